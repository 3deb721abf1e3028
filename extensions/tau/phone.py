"""Phone of a telecom customer: switches, network search, apps and payment requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from envs.backend import reads, writes
from envs.state import copy_json
from extensions.tau.desk import Desk, lower
from extensions.tau.field_types import ChoiceField, Fields, NullableField, validate

MODES = ("4g_5g_preferred", "4g_only", "3g_only", "2g_only")
_SIGNALS = {
    "none": "📵 No Signal",
    "poor": "📶¹ Poor",
    "fair": "📶² Fair",
    "good": "📶³ Good",
    "excellent": "📶⁴ Excellent",
}
_SPEED_RANGES = {"2G": (0.1, 0.4), "3G": (1, 5), "4G": (10, 100), "5G": (50, 500)}
_SPEED_FACTORS = {"poor": 0.2, "fair": 0.5, "good": 0.8, "excellent": 1.0}
_SPEEDS = (
    (1, "Very Poor", "Connection is very slow. Basic web browsing might be difficult."),
    (5, "Poor", "Connection is slow. Web browsing may be sluggish, streaming difficult."),
    (25, "Fair", "Connection is okay for web browsing and some standard definition streaming."),
    (100, "Good", "Connection is good for most activities, including HD streaming."),
    (float("inf"), "Excellent", "Connection is very fast."),
)
_PERMISSIONS = ("sms", "storage", "phone", "network")
DEFAULT_VPN = {
    "server_address": "192.168.1.1",
    "protocol": "OpenVPN",
    "server_performance": "excellent",
}
_APN: Fields = {
    "apn_name": ChoiceField(("internet", "broken"), "enum"),
    "reset_at_reboot": bool,
    "mms_apn": NullableField(str),
    "mmsc_url": NullableField(str),
    "mms_proxy": NullableField(str),
    "mms_port": NullableField(int),
}
DEFAULT_APN = {
    "apn_name": "internet",
    "reset_at_reboot": False,
    "mms_apn": "mms",
    "mmsc_url": "http://mms.carrier.com/mms/wapenc",
    "mms_proxy": None,
    "mms_port": None,
}
_APPS = {
    name: {"app_name": name, "permissions": dict(zip(_PERMISSIONS, granted, strict=True))}
    for name, granted in (
        ("messaging", (True, True, True, False)),
        ("browser", (False, True, False, True)),
    )
}
_DEVICE = {
    "sim_card_status": "active",
    "sim_card_missing": False,
    "airplane_mode": False,
    "network_signal_strength": "good",
    "network_technology_connected": "5G",
    "network_connection_status": "connected",
    "battery_level": 80,
    "data_enabled": True,
    "roaming_enabled": False,
    "network_mode_preference": "4g_5g_preferred",
    "active_apn_settings": DEFAULT_APN,
    "wifi_enabled": False,
    "wifi_connected": False,
    "wifi_ssid": None,
    "wifi_signal_strength": "none",
    "wifi_calling_enabled": False,
    "wifi_calling_mms_over_wifi": False,
    "data_saver_mode": False,
    "vpn_enabled_setting": False,
    "vpn_connected": False,
    "vpn_details": None,
    "app_statuses": _APPS,
}
_SURROUNDINGS = {
    "name": None,
    "phone_number": None,
    "is_abroad": False,
    "roaming_allowed": False,
    "signal_strength": {"2G": "poor", "3G": "fair", "4G": "good", "5G": "excellent"},
    "mobile_data_usage_exceeded": False,
    "line_active": True,
    "payment_request": None,
}


def _switched(on: bool) -> str:
    return "ON" if on else "OFF"


class Phone(Desk):
    """Functions of the phone that the customer can call."""

    device: dict[str, Any] = _DEVICE
    surroundings: dict[str, Any] = _SURROUNDINGS
    _vpn_profile: dict[str, Any] = DEFAULT_VPN

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the fields that are missing in records, phone, surroundings or VPN profile."""
        yield from super().references(config)
        for name, fields in (
            ("device", _DEVICE),
            ("surroundings", _SURROUNDINGS),
            ("vpn_profile", DEFAULT_VPN),
        ):
            for field in fields if name in config else ():
                if field not in config[name]:
                    yield f".{name}", f"has no {field}"

    # State --------------------------------------------------------------------------------------

    def set_device(self, **changes: Any) -> None:
        """Change fields of the device."""
        self.device = {**self.device, **changes}

    def set_surroundings(self, **changes: Any) -> None:
        """Change fields of the phone's surroundings, such as the signal strength."""
        self.surroundings = {**self.surroundings, **changes}

    @property
    def sim_status(self) -> str:
        """Status of the SIM card."""
        if self.device["sim_card_missing"]:
            return "missing"
        status: str = self.device["sim_card_status"]
        return status

    def search_network(self) -> None:
        """Search for a network; set the connection, network technology and signal strength."""
        device, strengths = self.device, self.surroundings["signal_strength"]
        blocked = (
            device["airplane_mode"]
            or device["active_apn_settings"]["apn_name"] == "broken"
            or not self.surroundings["line_active"]
        )
        if self.sim_status != "active" or blocked:
            found = ("no_service", "none", "none")
        else:
            preference = device["network_mode_preference"]
            technology = preference[:2].upper()
            if preference == "4g_5g_preferred":
                technology = "5G" if strengths.get("5G", "none") != "none" else "4G"
            found = ("connected", technology, strengths.get(technology, "none"))
        self.set_device(
            network_connection_status=found[0],
            network_technology_connected=found[1],
            network_signal_strength=found[2],
        )

    @property
    def has_mobile_data(self) -> bool:
        """Whether mobile data works."""
        device, around = self.device, self.surroundings
        roams = device["roaming_enabled"] and around["roaming_allowed"]
        return not (
            device["airplane_mode"]
            or device["network_signal_strength"] == "none"
            or device["network_connection_status"] == "no_service"
            or (around["is_abroad"] and not roams)
            or not device["data_enabled"]
            or around["mobile_data_usage_exceeded"]
        )

    @property
    def speed(self) -> tuple[float, str, str] | None:
        """Mobile data: speed in Mbps, rating and advice; None if mobile data does not work."""
        if not self.has_mobile_data:
            return None
        device = self.device
        slow = device["vpn_connected"] and (device["vpn_details"] or {}).get("server_performance")
        base = 0.1 if slow == "poor" else 1.0
        if device["data_saver_mode"]:
            base *= 0.2
        low, high = _SPEED_RANGES.get(device["network_technology_connected"], (0.0, 0.0))
        strength = _SPEED_FACTORS.get(device["network_signal_strength"], 0.0)
        speed = round((low + high) / 2 * strength * base, 2)
        return next((speed, name, advice) for limit, name, advice in _SPEEDS if speed < limit)

    @property
    def sends_mms(self) -> bool:
        """Whether picture messages can be sent."""
        device = self.device
        app = device["app_statuses"].get("messaging")
        over_wifi = device["wifi_calling_enabled"] and device["wifi_calling_mms_over_wifi"]
        return bool(
            self.has_mobile_data
            and device["network_technology_connected"] != "2G"
            and not over_wifi
            and device["active_apn_settings"]["mmsc_url"] is not None
            and app
            and app["permissions"]["storage"]
            and app["permissions"]["sms"]
        )

    @property
    def status_bar(self) -> str:
        """The icons of the status bar."""
        device = self.device
        if device["airplane_mode"]:
            icons = ["✈️ Airplane Mode"]
        else:
            technology = device["network_technology_connected"]
            icons = [_SIGNALS[device["network_signal_strength"]]]
            icons += [technology] if technology != "none" else []
            if device["data_enabled"] and technology != "none":
                icons.append("📱 Data Enabled")
                icons += ["🔽 Data Saver"] if device["data_saver_mode"] else []
            else:
                icons.append("📵 Data Disabled")
        if device["wifi_enabled"] and device["wifi_connected"]:
            ssid = device["wifi_ssid"]
            icons.append(f"📡 Connected to {ssid}" if ssid else "📡 Enabled")
        icons += ["🔒 VPN Connected"] if device["vpn_connected"] else []
        icons.append(f"🔋 {device['battery_level']}%")
        return " | ".join(icons)

    def _with_bar(self, text: str) -> str:
        return f"{text}\nStatus Bar: {self.status_bar}"

    def _flip(self, name: str, title: str, *, searches: bool = True) -> str:
        self.set_device(**{name: not self.device[name]})
        if searches:
            self.search_network()
        return self._with_bar(f"{title} is now {_switched(self.device[name])}.")

    def _leave_wifi(self) -> None:
        self.set_device(wifi_connected=False, wifi_ssid=None, wifi_signal_strength="none")

    # Functions ----------------------------------------------------------------------------------

    @reads
    def check_status_bar(self) -> str:
        """Show the icons of the status bar.

        Returns:
            Status bar.

        Examples:
            >>> check_status_bar()
            Status Bar: 📶³ Good | 5G | 📱 Data Enabled | 🔋 80%
        """
        return f"Status Bar: {self.status_bar}"

    @reads
    def check_network_status(self) -> str:
        """Check the connection to the mobile network and to Wi-Fi.

        Returns:
            One line for each setting.

        Examples:
            >>> check_network_status()
            Airplane Mode: OFF...
        """
        device = self.device
        lines = [
            f"Airplane Mode: {_switched(device['airplane_mode'])}",
            f"SIM Card Status: {self.sim_status}",
            f"Cellular Connection: {device['network_connection_status']}",
            f"Cellular Signal: {device['network_signal_strength']}",
            f"Cellular Network Type: {device['network_technology_connected']}",
            f"Mobile Data Enabled: {_answered(device['data_enabled'])}",
            f"Data Roaming Enabled: {_answered(device['roaming_enabled'])}",
            f"Wi-Fi Radio: {_switched(device['wifi_enabled'])}",
            f"Wi-Fi Connected: {_answered(device['wifi_connected'])}",
        ]
        if device["wifi_connected"]:
            lines.append(f"Connected Wi-Fi Network: {device['wifi_ssid']}")
        return "\n".join(lines)

    @reads
    def check_network_mode_preference(self) -> str:
        """Check the preferred network mode.

        Returns:
            Preferred network mode.

        Examples:
            >>> check_network_mode_preference()
            Network Mode Preference: 4g_5g_preferred
        """
        return f"Network Mode Preference: {self.device['network_mode_preference']}"

    @writes
    def set_network_mode_preference(self, mode: str) -> str:
        """Set the preferred network mode.

        Args:
            mode: Network mode, one of '4g_5g_preferred', '4g_only', '3g_only' and '2g_only'.

        Returns:
            New network mode and status bar.

        Examples:
            >>> set_network_mode_preference(mode='4g_only')
            Preferred Network Mode set to: 4g_only...
        """
        if mode not in MODES:
            said = f"'{mode}' is not a valid option. Please use one of: {', '.join(MODES)}"
            return self._with_bar(f"Failed to set network mode: {said}")
        self.set_device(network_mode_preference=mode)
        self.search_network()
        return self._with_bar(f"Preferred Network Mode set to: {mode}")

    @reads
    def run_speed_test(self) -> str:
        """Measure the speed of mobile data.

        Returns:
            Speed, rating and advice.

        Examples:
            >>> run_speed_test()
            Speed test failed: No Connection.
        """
        if self.speed is None:
            return "Speed test failed: No Connection."
        speed, name, advice = self.speed
        return f"Speed Test Result: {speed:.2f} Mbps ({name}). {advice}"

    @writes
    def toggle_airplane_mode(self) -> str:
        """Turn airplane mode on or off.

        Returns:
            New setting and status bar.

        Examples:
            >>> toggle_airplane_mode()
            Airplane Mode is now ON...
        """
        on = not self.device["airplane_mode"]
        self.set_device(airplane_mode=on)
        if on:
            self._leave_wifi()
            self.set_device(vpn_connected=False, vpn_details=None)
        else:
            self.set_device(network_connection_status="searching")
            if self.device["wifi_enabled"]:
                self._leave_wifi()
        self.search_network()
        return self._with_bar(f"Airplane Mode is now {_switched(on)}.")

    @reads
    def check_sim_status(self) -> str:
        """Check the SIM card.

        Returns:
            Whether the SIM card is active, missing or locked.

        Examples:
            >>> check_sim_status()
            Your SIM card is active and working.
        """
        return {
            "active": "Your SIM card is active and working.",
            "missing": "No SIM card detected in the phone.",
            "locked_pin": "The SIM card is locked with a PIN code.",
            "locked_puk": "The SIM card is locked with a PUK code.",
        }[self.sim_status]

    @writes
    def reseat_sim_card(self) -> str:
        """Remove the SIM card, and insert it again.

        Returns:
            Confirmation and status bar.

        Examples:
            >>> reseat_sim_card()
            SIM card re-seated successfully...
        """
        self.set_device(sim_card_missing=False)
        self.search_network()
        return self._with_bar("SIM card re-seated successfully.")

    @writes
    def toggle_data(self) -> str:
        """Turn mobile data on or off.

        Returns:
            New setting and status bar.

        Examples:
            >>> toggle_data()
            Mobile Data is now OFF...
        """
        return self._flip("data_enabled", "Mobile Data")

    @writes
    def toggle_roaming(self) -> str:
        """Turn data roaming on or off.

        Returns:
            New setting and status bar.

        Examples:
            >>> toggle_roaming()
            Data Roaming is now ON...
        """
        return self._flip("roaming_enabled", "Data Roaming")

    @reads
    def check_data_restriction_status(self) -> str:
        """Check whether data saver mode is on.

        Returns:
            Setting.

        Examples:
            >>> check_data_restriction_status()
            Data Saver mode is OFF.
        """
        if self.device["data_saver_mode"]:
            return "Data Saver mode is ON (limits data usage)."
        return "Data Saver mode is OFF."

    @writes
    def toggle_data_saver_mode(self) -> str:
        """Turn data saver mode on or off.

        Returns:
            New setting and status bar.

        Examples:
            >>> toggle_data_saver_mode()
            Data Saver Mode is now ON...
        """
        return self._flip("data_saver_mode", "Data Saver Mode", searches=False)

    @reads
    def check_apn_settings(self) -> str:
        """Check the access point (APN) settings.

        Returns:
            APN name, and MMSC address for picture messages.

        Examples:
            >>> check_apn_settings()
            Current APN Name: internet...
        """
        apn = self.device["active_apn_settings"]
        return (
            f"Current APN Name: {apn['apn_name']}\n"
            f"MMSC URL (for picture messages): {apn['mmsc_url'] or 'Not Set'}\n"
            "(These are technical settings, usually best left unchanged.)"
        )

    @writes
    def set_apn_settings(self, apn_settings: dict[str, Any]) -> str:
        """Replace the access point (APN) settings.

        Args:
            apn_settings: New settings, such as apn_name and mmsc_url. Others get default values.

        Returns:
            Confirmation and status bar.

        Examples:
            >>> set_apn_settings(apn_settings={'apn_name': 'internet'})
            APN settings set to: internet...
            >>> set_apn_settings(apn_settings={'name': 'internet'})
            {"error": "1 validation error for APNSettings...
        """
        settings: Any = apn_settings
        if isinstance(settings, Mapping):
            settings = validate("APNSettings", _APN, settings, DEFAULT_APN, is_closed=True)
        self.set_device(active_apn_settings=settings)
        self.search_network()
        return self._with_bar(f"APN settings set to: {settings['apn_name']}")

    @writes
    def reset_apn_settings(self) -> str:
        """Reset the access point (APN) settings at the next restart.

        Returns:
            Confirmation and status bar.

        Examples:
            >>> reset_apn_settings()
            APN settings will reset at reboot...
        """
        apn = {**self.device["active_apn_settings"], "reset_at_reboot": True}
        self.set_device(active_apn_settings=apn)
        self.search_network()
        return self._with_bar("APN settings will reset at reboot.")

    @reads
    def check_wifi_status(self) -> str:
        """Check the Wi-Fi connection.

        Returns:
            Whether Wi-Fi is on and connected.

        Examples:
            >>> check_wifi_status()
            Wi-Fi is turned OFF.
        """
        device = self.device
        if not device["wifi_enabled"]:
            return "Wi-Fi is turned OFF."
        if not device["wifi_connected"]:
            return "Wi-Fi is ON but not connected to any network."
        strength = device["wifi_signal_strength"]
        return f"Wi-Fi is ON and connected to '{device['wifi_ssid']}'. Signal strength: {strength}."

    @writes
    def toggle_wifi(self) -> str:
        """Turn Wi-Fi on or off.

        Returns:
            New setting and status bar.

        Examples:
            >>> toggle_wifi()
            Wi-Fi is now ON...
        """
        if self.device["airplane_mode"]:
            return self._with_bar("Cannot change Wi-Fi settings while Airplane Mode is ON.")
        if self.device["wifi_enabled"]:
            self._leave_wifi()
        return self._flip("wifi_enabled", "Wi-Fi", searches=False)

    @reads
    def check_wifi_calling_status(self) -> str:
        """Check whether Wi-Fi calling is on.

        Returns:
            Setting.

        Examples:
            >>> check_wifi_calling_status()
            Wi-Fi Calling is currently turned OFF.
        """
        on = _switched(self.device["wifi_calling_enabled"])
        return f"Wi-Fi Calling is currently turned {on}."

    @writes
    def toggle_wifi_calling(self) -> str:
        """Turn Wi-Fi calling on or off.

        Returns:
            New setting and status bar.

        Examples:
            >>> toggle_wifi_calling()
            Wi-Fi Calling is now ON...
        """
        return self._flip("wifi_calling_enabled", "Wi-Fi Calling", searches=False)

    @reads
    def check_vpn_status(self) -> str:
        """Check the VPN connection.

        Returns:
            Whether the VPN is connected, with details.

        Examples:
            >>> check_vpn_status()
            VPN is turned OFF.
        """
        device, details = self.device, self.device["vpn_details"]
        if device["vpn_connected"]:
            if not details:
                return "VPN is ON and connected (no specific details available)."
            performance = details["server_performance"]
            said = (
                f"{{'server_address': {details['server_address']!r}, "
                f"'protocol': {details['protocol']!r}, 'server_performance': "
                f"<PerformanceLevel.{performance.upper()}: {performance!r}>}}"
            )
            return f"VPN is ON and connected. Details: {said}"
        if device["vpn_enabled_setting"]:
            return "VPN is turned ON in settings, but currently not connected."
        return "VPN is turned OFF."

    @writes
    def connect_vpn(self) -> str:
        """Connect to the VPN.

        Returns:
            Confirmation and status bar.

        Examples:
            >>> connect_vpn()
            VPN connected successfully...
        """
        if self.device["vpn_connected"]:
            return "VPN already connected."
        self.set_device(vpn_connected=True, vpn_details=self._vpn_profile)
        return self._with_bar("VPN connected successfully.")

    @writes
    def disconnect_vpn(self) -> str:
        """Disconnect from the VPN.

        Returns:
            Confirmation and status bar.

        Examples:
            >>> disconnect_vpn()
            No active VPN connection to disconnect...
        """
        if not self.device["vpn_connected"]:
            return self._with_bar("No active VPN connection to disconnect.")
        self.set_device(vpn_connected=False, vpn_details=None)
        return self._with_bar("VPN disconnected successfully.")

    @reads
    def check_installed_apps(self) -> str:
        """List the apps on the phone.

        Returns:
            Names of the apps.

        Examples:
            >>> check_installed_apps()
            The following apps are installed on the phone: messaging, browser
        """
        listed = ", ".join(self.device["app_statuses"])
        return f"The following apps are installed on the phone: {listed}"

    @reads
    def check_app_status(self, app_name: str) -> str:
        """Check the status of an app.

        Args:
            app_name: Name of the app.

        Returns:
            Permissions of the app, one per line.

        Examples:
            >>> check_app_status(app_name='browser')
            Status for App: browser...
        """
        app = self._app(app_name)
        if app is None:
            return f"App '{app_name}' not found on this phone."
        lines = [f"Status for App: {app['app_name']}"]
        granted = _list_granted(app)
        if granted:
            lines += [" - Permissions Granted:", *(f"   - {each}" for each in granted)]
        else:
            lines.append(" - Permissions: None granted.")
        return "\n".join(lines)

    @reads
    def check_app_permissions(self, app_name: str) -> str:
        """Check the permissions of an app.

        Args:
            app_name: Name of the app.

        Returns:
            Permissions of the app.

        Examples:
            >>> check_app_permissions(app_name='browser')
            App 'browser' has permission for: storage, network.
        """
        app = self._app(app_name)
        if app is None:
            return f"App '{app_name}' not found on this phone."
        granted = _list_granted(app)
        if not granted:
            return f"App '{app_name}' currently has no permissions granted."
        return f"App '{app_name}' has permission for: {', '.join(granted)}."

    @writes
    def grant_app_permission(self, app_name: str, permission: str) -> str:
        """Grant a permission to an app.

        Args:
            app_name: Name of the app.
            permission: Permission, one of 'sms', 'storage', 'phone' and 'network'.

        Returns:
            Confirmation and status bar.

        Examples:
            >>> grant_app_permission(app_name='browser', permission='phone')
            Success. Permission 'phone' granted to app 'browser'...
        """
        name = lower(permission)
        app = self._app(app_name)
        if app is None:
            return self._with_bar(f"Error. App '{app_name}' not found. Cannot grant permission.")
        if name not in app["permissions"]:
            said = f"available permissions: {list(app['permissions'])}"
            return self._with_bar(
                f"Error. Permission '{name}' not tracked for app '{app_name}', {said}"
            )
        self.set_permission(app_name, name, granted=True)
        return self._with_bar(f"Success. Permission '{name}' granted to app '{app_name}'.")

    def set_permission(self, app_name: str, permission: str, *, granted: bool) -> None:
        """Change a permission of an app."""
        apps = self.device["app_statuses"]
        app = apps[app_name]
        changed = {**app, "permissions": {**app["permissions"], permission: granted}}
        self.set_device(app_statuses={**apps, app_name: changed})

    @reads
    def can_send_mms(self) -> str:
        """Check whether the messaging app can send picture messages (MMS).

        Returns:
            Whether the app can send picture messages.

        Examples:
            >>> can_send_mms()
            Your messaging app cannot send MMS messages.
        """
        return f"Your messaging app {'can' if self.sends_mms else 'cannot'} send MMS messages."

    @writes
    def reboot_device(self) -> str:
        """Restart the phone.

        Returns:
            Restart messages and status bar.

        Examples:
            >>> reboot_device()
            Restarting network services...
        """
        lines = []
        if self.device["active_apn_settings"]["reset_at_reboot"]:
            lines.append("Resetting APN settings...")
            self.set_device(active_apn_settings=DEFAULT_APN)
        lines.append("Restarting network services...")
        self.set_device(network_connection_status="searching")
        self.search_network()
        return self._with_bar("\n".join(lines))

    @reads
    def check_payment_request(self) -> str:
        """Check whether a bill is awaiting payment.

        Returns:
            Bill and amount.

        Examples:
            >>> check_payment_request()
            No payment request has been made.
        """
        request = self.surroundings["payment_request"]
        if request is None:
            return "No payment request has been made."
        amount = request["amount_due"]
        return f"You have a payment request for bill {request['bill_id']} of {amount} USD."

    @writes
    def make_payment(self) -> str:
        """Pay the bill that is awaiting payment.

        Returns:
            Bill and amount.

        Examples:
            >>> make_payment()
            You do not have a payment request.
        """
        request = self.surroundings["payment_request"]
        if request is None:
            return "You do not have a payment request."
        self.set_surroundings(payment_request={**request, "paid": True})
        amount = request["amount_due"]
        return f"Payment of {amount} USD has been made for bill {request['bill_id']}."

    def _app(self, name: str) -> dict[str, Any] | None:
        apps = self.device["app_statuses"]
        found: dict[str, Any] | None = apps.get(name)
        return found

    # Set-up -------------------------------------------------------------------------------------

    def spoil_vpn(self) -> None:
        """Connect to the VPN; its server is slow from now on."""
        self._set_up("connect_vpn")
        self._vpn_profile = {**self._vpn_profile, "server_performance": "poor"}
        if self.device["vpn_details"] is not None:
            self.set_device(vpn_details=self._vpn_profile)

    def _set_up(self, name: str) -> None:
        function: Callable[[Phone], Any] = self.TOOLS[name].function
        function(self)

    def switch(self, tool: str, member: str, *, on: bool) -> None:
        """Call a toggle function until the setting equals ``on``."""
        self._set_up(tool)
        if self.device[member] is not on:
            self._set_up(tool)


Phone.USER_TOOLS = tuple([name for name in Phone.TOOLS if name not in Desk.TOOLS])


def _answered(value: bool) -> str:
    return "Yes" if value else "No"


def _list_granted(app: Mapping[str, Any]) -> list[str]:
    return [name for name in _PERMISSIONS if app["permissions"].get(name)]


def copy_default_phone() -> dict[str, Any]:
    """Return the state of a phone before any set-up."""
    state: dict[str, Any] = copy_json({"device": _DEVICE, "surroundings": _SURROUNDINGS})
    return state
