"""Words with which a telecom agent asks the user to call a function of the phone."""

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
    "grant_app_permission": "permissions",
}


GOALS = {
    "MMS": ("can_send_mms", "can send"),
    "No Service": ("check_status_bar", "📶"),
    "obile data": ("run_speed_test", "excellent"),
}
"""Function that tests whether an issue is resolved, and a regular expression for success.

The keys are words with which tau2 states the issue.
"""


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
"""Results that meet the condition under which the agent asks the user to make a call."""


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
    )


STEPS: tuple[UserStep, ...] = (
    _reads(
        r"status bar|icons? (?:at|in|on)|signal (?:strength|bars|indicator)|bars you see"
        r"|\bicons?\b.*(?:see|any)"
        r"|(?:service|signal) (?:is |has )?(?:return|restor|back|improv)",
        "check_status_bar",
        unless=r"status bar: [^\n]*\Z",
    ),
    _writes(
        r"(?:turn(?:ing)?|switch(?:ing)?|toggl\w+|disabl\w+)[^.]{0,30}airplane mode"
        r"|airplane mode[^.]{0,20}(?:is |turned )off\b",
        "toggle_airplane_mode",
        r"airplane mode is now off|📶",
    ),
    _reads(
        r"sim (?:card )?(?:status|is)|sim card (?:errors|warnings?|messages?)|(?:check"
        r"|about)[^.]{0,30}\bsim\b",
        "check_sim_status",
    ),
    _writes(r"re-?seat|re-?insert|remove (?:and|the sim|your sim)", "reseat_sim_card"),
    _writes(
        r"turn[^.]{0,20}data on\b"
        r"|(?:turn(?:ing)? on|enabl\w+|switch(?:ing)? on|toggl\w+)[^.]{0,30}(?:mobile"
        r"|cellular)? ?\bdata\b(?! roaming| saver)"
        r"|(?:mobile|cellular) data[^.]{0,25}(?:turned on|is on|enabled|on\.)",
        "toggle_data",
        r"(?s:(?:data enabled(?!:)|mobile data (?:enabled: yes|is now on))(?!.*data disabled))",
    ),
    _writes(
        r"(?:turn(?:ing)? on|enabl\w+|switch(?:ing)? on|toggl\w+)[^.]{0,40}roaming",
        "toggle_roaming",
        r"roaming is now on|roaming enabled: yes",
    ),
    _writes(
        r"(?:turn(?:ing)?|switch(?:ing)?|disabl\w+|toggl\w+)[^.]{0,20}data saver",
        "toggle_data_saver_mode",
        r"data saver mode is now off",
    ),
    _writes(
        r"(?:chang\w+|switch\w*|\bset (?:your|the|it)|select|choose)[^.]{0,60}(?:network (?:mode"
        r"|type)|4g|5g|lte)",
        "set_network_mode_preference",
        r"set to: 4g_5g",
        mode="4g_5g_preferred",
    ),
    _reads(
        r"^(?!.*(?:status bar|displayed|top of)).*(?:check|confirm|what|look|which)[^.]{0,60}"
        r"(?:network (?:mode|type)(?: preference)?|preferred network|what it says)",
        "check_network_mode_preference",
    ),
    _writes(
        r"disconnect\w*[^.]{0,30}vpn|turn(?:ing)? off[^.]{0,20}vpn|vpn[^.]{0,20}(?:off|disconnect)",
        "disconnect_vpn",
        r"vpn disconnected|no active vpn",
    ),
    _reads(r"(?:check|see|using|confirm)[^.]{0,50}\bvpn\b", "check_vpn_status"),
    _reads(
        r"check[^.]{0,50}data saver|data (?:restriction|usage restriction)",
        "check_data_restriction_status",
    ),
    _reads(r"(?:check|confirm|verify)[^.]{0,40}apn|mmsc", "check_apn_settings"),
    _writes(
        r"reset(?:ting)?[^.]{0,30}(?:apn|access point|network settings)"
        r"|(?:select|tap|choose|look|option)[^.]*\breset (?:to default|settings)",
        "reset_apn_settings",
    ),
    _writes(
        r"(?:turn(?:ing)? off|disabl\w+|switch(?:ing)? off|toggl\w+)[^.]{0,20}wi-?fi calling",
        "toggle_wifi_calling",
        r"wi-fi calling is (?:now|currently turned) off",
    ),
    _reads(
        r"(?:check|see|confirm)[^.]{0,50}wi-?fi calling|is wi-?fi calling",
        "check_wifi_calling_status",
    ),
    _reads(
        r"(?:check|look|review|confirm|verify|ensure)[^.]{0,60}permission"
        r"|does your (?:messaging )?app[^.]{0,30}permission",
        "check_app_permissions",
        app_name="messaging",
    ),
    _writes(
        r"(?:grant|allow|enabl\w+|turn(?:ing)? on|give)[^.]{0,60}(?:storage|permissions)",
        "grant_app_permission",
        r"permission for: [^.\n]*\bstorage\b|permission 'storage' granted",
        app_name="messaging",
        permission="storage",
    ),
    _writes(
        r"(?:grant|allow|enabl\w+|turn(?:ing)? on|give)[^.]{0,60}(?:\bsms\b|permissions)",
        "grant_app_permission",
        r"permission for: [^.\n]*\bsms\b|permission 'sms' granted",
        app_name="messaging",
        permission="sms",
    ),
    _reads(
        r"check[^.]{0,40}installed apps|which (?:messaging )?app"
        r"|(?:check|ensure|verify|confirm|review|look)[^.]{0,60}permission",
        "check_installed_apps",
        unless="apps are installed",
    ),
    _reads(r"(?:check|accept|see|review|look)[^.]{0,40}payment request", "check_payment_request"),
    _writes(
        r"(?:complete|make|accept|approve|proceed with)[^.]{0,40}pay|pay the"
        r"|instructions to complete",
        "make_payment",
    ),
    _writes(r"re-?boot|re-?start(?:ing)?[^.]{0,20}(?:phone|device|it)", "reboot_device"),
    _reads(
        r"(?:try|attempt|test|able to|if you can|confirm|now)\w*[^.]{0,30}send(?:ing)?\b[^.]{0,40}"
        r"(?:mms|picture|group|multimedia|photo)(?! from)|mms[^.]{0,30}again",
        "can_send_mms",
    ),
    _reads(
        r"speed ?test|(?:using|browsing|browse|test|try)[^.]{0,40}(?:internet"
        r"|mobile data again|your data|website)|(?:check|see)[^.]{0,25}speed",
        "run_speed_test",
    ),
    _reads(
        r"(?:make|place|making)[^.?]{0,20}calls[^.?]*(?:data|browse|internet)"
        r"|network (?:status|connection|settings) (?:on|of)"
        r"|check[^.]{0,30}(?:network (?:status|connection)|mobile data|roaming)",
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
"""Texts that ask for the functions that gold actions need."""
