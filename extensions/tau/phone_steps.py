"""Patterns that find a telecom agent's requests to call a phone function."""

from extensions.users.scenario import UserStep

_TOPICS = {
    "check_status_bar": "bar",
    "toggle_airplane_mode": "airplane",
    "check_sim_status": "sim",
    "reseat_sim_card": "sim",
    "check_network_mode_preference": "mode",
    "set_network_mode_preference": "mode",
    "check_vpn_status": "vpn",
    "disconnect_vpn": "vpn",
    "check_data_restriction_status": "saver",
    "toggle_data_saver_mode": "saver",
    "check_apn_settings": "apn",
    "reset_apn_settings": "apn",
    "check_wifi_calling_status": "calling",
    "toggle_wifi_calling": "calling",
    "check_app_permissions": "permissions",
    "check_installed_apps": "permissions",
    "grant_app_permission": "permissions",
}


GOALS = {
    "MMS": ("can_send_mms", "can send"),
    "No Service": ("check_status_bar", "📶"),
    "obile data": ("run_speed_test", "excellent"),
}
"""Maps an issue to a test function and a pattern for a good result."""


_NEEDS = {
    "toggle_airplane_mode": r"airplane mode: on|✈",
    "set_network_mode_preference": r"preference: (?!4g_5g)",
    "toggle_wifi_calling": "calling is currently turned on",
    "disconnect_vpn": "vpn is (?:on|turned on)|vpn connected",
    "toggle_data_saver_mode": "data saver mode is on",
    "toggle_data": r"data disabled|enabled: no",
    "reset_apn_settings": r"url[^\n]*not set",
    "toggle_roaming": "roaming enabled: no",
    "grant_app_permission": "has permission for",
}
"""Maps a function to a pattern. A conditional request needs an earlier result that matches."""


_FAILS = {
    "can_send_mms": "no signal|data disabled",
    "run_speed_test": "no signal|data disabled|airplane mode [|]",
}
"""Maps a test function to a pattern. The test fails if the last result matches the pattern."""


def _writes(words: str, function: str, unless: str = "", **arguments: str) -> UserStep:
    return UserStep(
        words,
        function,
        arguments,
        unless,
        _NEEDS.get(function, ""),
        _TOPICS.get(function, ""),
        writes=True,
        is_tested=function in ("reboot_device", "grant_app_permission", "make_payment"),
    )


def _reads(words: str, function: str, unless: str = "", **arguments: str) -> UserStep:
    return UserStep(
        words,
        function,
        arguments,
        unless,
        topic=_TOPICS.get(function, ""),
        is_test=function in ("can_send_mms", "run_speed_test"),
        fails=_FAILS.get(function, ""),
    )


_CHECK = (
    r"(?:check\w*|see|look\w*|confirm|verify|review|open|find|tell|know|are|is|does|what|which"
    r"|whether|about|using|do you have)\b[^.]{0,60}"
)
_NOT_BAR = r"^(?!.*status bar).*"
"""Start of a pattern that excludes sentences with the words "status bar"."""
_OFF = r"(?:turn(?:ing)?|switch(?:ing)?|toggl\w+|disabl(?:e|ing)|deactivat(?:e|ing))\b[^.]{0,30}"
_ON = r"(?:turn(?:ing)?|switch(?:ing)?|toggl\w+|enabl(?:e|ing)|activat(?:e|ing))\b[^.]{0,40}"
_ENSURE = r"(?:make sure|ensure)[^.?]{0,40}"
_GRANT = r"(?:grant(?:ing)?\b|(?<!is )allow\b|enabl(?:e|ing)\b|turn(?:ing)? on|give)[^.]{0,60}"
_PERMISSIONS = (
    r"(?:check|look|review|confirm|verify|ensure|make sure|see|open|what|which|are)\b[^.]{0,80}"
    r"(?:permission|is allowed)"
    r"|(?:does|has|if|whether|sure|that)\b[^.]{0,30}\bapp\b[^.]{0,40}(?:permission|access|allowed)"
    r"|\b(?:sms|storage)\b[^.]{0,20}\b(?:are|is) (?:allowed|enabled|granted)"
)

STEPS: tuple[UserStep, ...] = (
    _reads(
        r"status bar|icons? (?:at|in|on)|signal (?:strength|bars|indicator)|bars you see"
        r"|\bicons?\b.*(?:see|any)|airplane (?:symbol|icon)|top of your (?:phone|screen)"
        r"|(?:service|signal) (?:is |has |has been )?(?:return|restor|back|improv|comes? back)"
        r"|network type[^.]{0,30}(?:display|shown|see)|what network\b(?! mode| type)"
        r"|what (?:do )?you see\b[^.]{0,30}(?:top|screen|status)|how many bars"
        r"|\bbars\b[^.]{0,20}(?:come|back|appear|return)|\bshows? (?:signal|4g|5g|now)"
        r"|regains? (?:signal|service)|connects? to (?:the|a)[^.]{0,15}network"
        r"|\b(?:check|see|is)\b[^.]{0,30}airplane mode(?![^.]{0,40}(?<!or )\boff\b)"
        r"|(?:\b(?:if|whether)\b[^.]{0,30}|^\W*is (?:your )?)airplane mode"
        r"|\b(?:check|see|if|whether)\b[^.]{0,40}(?:(?:have|has|get) (?:a |any |cellular )?"
        r"(?:signal|service)|(?:show|display|say)\w* \W?(?:no )?service)"
        r"|\b(?:check|see)\b[^.]{0,40}no service"
        r"|\b(?:check|look at|how strong)\b[^.]{0,20}\b(?:signal|service)\b"
        r"|^\W*(?:do you have|(?:is|has) your)\b[^.]{0,15}\b(?:signal|service)\b",
        "check_status_bar",
        unless=r"status bar: [^\n]*\Z",
    ),
    _writes(
        rf"{_OFF}airplane mode"
        r"|^(?!.*\b(?:if|whether)\b).*airplane mode[^.]{0,20}(?:is |turned )off\b"
        r"|(?:out of|exit|leave) airplane mode",
        "toggle_airplane_mode",
        r"airplane mode is now off|📶",
    ),
    _reads(
        r"sim (?:card )?(?:status|is)|sim (?:card )?(?:errors|warnings?|messages?)"
        r"|sim-related|status of (?:your|the) sim\b|\bno sim\b|\bsim locked"
        r"|\bsim (?:check\b|[^.]{0,10}(?:recogni|detected))"
        r"|(?:check|about)[^.]{0,30}\bsim\b|is your sim\b",
        "check_sim_status",
    ),
    _writes(
        r"re-?seat|re-?insert|remov(?:e|ing) (?:and|the sim|your sim)|take out[^.]{0,15}\bsim\b",
        "reseat_sim_card",
    ),
    _writes(
        r"(?:turn|switch)[^.]{0,20}data (?:back )?on\b"
        r"|(?:turn(?:ing)? on|enabl(?:e|ing)\b|switch(?:ing)? on|toggl\w+)[^.]{0,30}(?:mobile"
        r"|cellular)? ?\bdata\b(?! roaming| saver| connection)"
        r"|^(?!\W*is\b|.*\b(?:whether|if)\b).*(?:mobile|cellular) data[^.?]{0,25}(?:turned on"
        r"|is on|enabled|\bon\.)",
        "toggle_data",
        r"(?s:(?:data enabled(?!:)|mobile data (?:enabled: yes|is now on))(?!.*data disabled))",
    ),
    _writes(
        rf"{_ON}roaming|{_ENSURE}roaming[^.?]*\b(?:on|enabled|active|activated)\b",
        "toggle_roaming",
        r"roaming is now on|roaming enabled: yes",
    ),
    _writes(rf"{_OFF}data saver", "toggle_data_saver_mode", r"data saver mode is now off"),
    _writes(
        r"(?:chang\w+|switch\w*|\bset (?:your|the|it)|select\b|choose|update)[^.]{0,60}"
        r"(?:network (?:mode|type)|4g|5g|lte)",
        "set_network_mode_preference",
        r"set to: 4g_5g",
        mode="4g_5g_preferred",
    ),
    _reads(
        r"^(?!.*(?:status bar|displayed|top of)).*(?:check|confirm|what|look|which)[^.]{0,60}"
        r"(?:network (?:mode|type)|preferred network|cellular network your phone prefers)",
        "check_network_mode_preference",
    ),
    _writes(
        rf"disconnect\w*[^.]{{0,30}}vpn|{_OFF}vpn|vpn[^.]{{0,20}}(?:off|disconnect)",
        "disconnect_vpn",
        r"vpn disconnected|no active vpn",
    ),
    _reads(rf"{_NOT_BAR}(?:{_CHECK}|connected to )\bvpn\b", "check_vpn_status"),
    _reads(
        rf"{_NOT_BAR}{_CHECK}data saver|data (?:restriction|usage restriction)",
        "check_data_restriction_status",
    ),
    _reads(
        r"(?:check|confirm|verify|look|review|open|tell|view|what)[^.]{0,40}(?:\bapn\b"
        r"|access point)|mmsc",
        "check_apn_settings",
    ),
    _writes(
        r"(?:reset|restor)\w*[^.]{0,30}(?:apn|access point|network settings)|\bapn reset\b"
        r"|(?:select|tap|choose|look|option)[^.]*\breset (?:to default|settings)",
        "reset_apn_settings",
    ),
    _writes(
        rf"{_OFF}wi-?fi calling",
        "toggle_wifi_calling",
        r"wi-fi calling is (?:now|currently turned) off",
    ),
    _reads(rf"{_CHECK}wi-?fi calling", "check_wifi_calling_status"),
    _reads(
        r"are you[^.]{0,20}(?:connected to|using|on) wi-?fi\b(?! calling)"
        r"|check[^.]{0,30}wi-?fi (?:status|connection)",
        "check_wifi_status",
    ),
    _reads(
        rf"check[^.]{{0,40}}installed apps|(?:what|which) (?:messaging )?apps?\b|{_PERMISSIONS}",
        "check_installed_apps",
        unless="apps are installed",
    ),
    _reads(_PERMISSIONS, "check_app_permissions", app_name="messaging"),
    *[
        _writes(
            rf"{_GRANT}(?:\b{permission}\b|permissions)|\b{permission}\b[^.]{{0,30}}\ballow\b",
            "grant_app_permission",
            rf"permission for: [^.\n]*\b{permission}\b|permission '{permission}' granted",
            app_name="messaging",
            permission=permission,
        )
        for permission in ("storage", "sms")
    ],
    _reads(r"(?:check|accept|see|review|look)[^.]{0,40}payment request", "check_payment_request"),
    _writes(
        r"(?:complete|make|accept|approve|proceed with)[^.]{0,40}pay|\bpay (?:the|it|this)\b"
        r"|\b(?:accept|approve) (?:it|the request)\b"
        r"|instructions to complete",
        "make_payment",
    ),
    _writes(
        r"re-?boot|power[ -]cycl|re-?start(?:ing)?\b[^.]{0,20}(?:phone|device|it)"
        r"|(?:turn|power)[^.]{0,20}\boff\b[^.]{0,40}(?:and|then) (?:back )?on\b"
        r"|power[^.]{0,20}\boff\b[^.]{0,60}\bon\b"
        r"|^(?!.*\bsim\b).*\b(?:turn|switch) (?:off )?(?:your|the) (?:phone|device)\b"
        r"[^.]{0,60}\bon\b",
        "reboot_device",
    ),
    _reads(
        r"(?:try|attempt|test|able to|(?:if|whether) you can|can you|confirm|now)\w*[^.]{0,30}"
        r"send(?:ing)?\b[^.]{0,40}(?:mms|picture|group|multimedia|photo)(?! from)"
        r"|mms[^.]{0,30}(?:again|once more)"
        r"|\b(?:try|test)(?:ing)? (?:an |your |the |another )?mms\b"
        r"|sending (?:an |a )?(?:mms|picture)[^.]{0,20}work"
        r"|^\W*(?:is|are|does|do|did)\b[^.]{0,20}(?:mms|picture messag)[^.]{0,15}"
        r"(?:work|go through|send|sent)"
        r"|(?:check|see|test)[^.]{0,20}(?:mms|picture messag)[^.]{0,30}(?:work|go through|send)",
        "can_send_mms",
    ),
    _reads(
        r"speed ?test|(?:using|test|try|load)\w*[^.]{0,40}(?:internet"
        r"|mobile data (?:again|connection)|your data|website|web ?page)"
        r"|^(?!.*\bcalls?\b).*(?:browsing|browse)[^.]{0,40}(?:internet|website|web)"
        r"|\btest[^.]{0,20}\bconnection|(?:how|what)[^.]{0,20}(?:internet|data|connection) speed"
        r"|\b(?:run|rerun|repeat)\b[^.]{0,20}\btest\b"
        r"|^\W*(?:is|are|does|has)\b[^.]{0,20}(?:internet|\bdata|speed)[^.]{0,15}"
        r"\b(?:work|better|faster|improv|restor|back)"
        r"|\b(?:if|whether)\b[^.]{0,20}(?:access|use|using)\b[^.]{0,15}(?:internet|web\b|\bdata\b)"
        r"|(?:check|see|test)[^.]{0,45}speed"
        r"|^(?!.*\bcalls?\b).*\b(?:check|see|try|test|confirm)\b[^.]{0,40}(?:(?<!& )internet|online"
        r"|\bpages?\b|your (?:mobile )?data (?:again|now))"
        r"|use your (?:mobile )?data\b"
        r"|(?:check|see|if|whether)[^.]{0,30}(?:mobile data|internet|\bdata)[^.]{0,20}"
        r"\b(?:work|fast|improv|restor|back|start)",
        "run_speed_test",
    ),
    _reads(
        r"(?:make|place|making)[^.?]{0,20}calls[^.?]{0,120}(?:data|browse|internet)"
        r"|network (?:status|connection|settings) (?:on|of)"
        r"|(?:check|verify|confirm|share|tell)[^.]{0,30}"
        r"(?:(?<!preferred )network (?:status|connection|settings)"
        r"|connection to the"
        r"|mobile data(?![^.]{0,40}(?:\bwork|again))|roaming)"
        r"|(?:check|able to|can you|if you can)[^.?]{0,30}(?:make|place)[^.?]{0,15}\bcalls?\b"
        r"|\b(?:is|are) (?:your )?(?:mobile data|data roaming|roaming|data)\b"
        r"(?! saver|[^.]{0,15}\b(?:work|restr))",
        "check_network_status",
    ),
)

REQUESTS = {
    "toggle_airplane_mode": "Please turn off airplane mode.",
    "set_network_mode_preference": "Please change the network mode to 4G/5G preferred.",
    "toggle_roaming": "Please turn on data roaming.",
    "toggle_data": "Please turn on mobile data.",
    "reboot_device": "Please reboot the phone.",
    "reseat_sim_card": "Please reseat the SIM card.",
    "reset_apn_settings": "Please reset the APN settings.",
    "toggle_wifi_calling": "Please turn off Wi-Fi calling.",
    "grant_app_permission": "Please grant the {app_name} app the {permission} permission.",
    "toggle_data_saver_mode": "Please turn off data saver.",
    "disconnect_vpn": "Please disconnect the VPN.",
    "make_payment": "Please accept the request and make the payment.",
}
"""Maps a function to the agent's text that asks the user to call the function."""
