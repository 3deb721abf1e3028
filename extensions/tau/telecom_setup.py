"""Set-up functions and assertions of tau2's telecom tasks; these functions are not tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from envs.errors import InvalidArgument, NotFound, Refused
from extensions.tau.desk import lower
from extensions.tau.telecom import TODAY, TelecomDesk, make_item

Function = Callable[..., Any]


def _set_user_info(desk: TelecomDesk, name: str, phone_number: str) -> None:
    desk.set_surroundings(name=name, phone_number=phone_number)


def _set_user_location(desk: TelecomDesk, abroad: bool) -> None:
    desk.set_surroundings(is_abroad=abroad)


def _switch(tool: str, member: str, on: bool) -> Function:
    return lambda desk: desk.switch(tool, member, on=on)


def _unseat_sim_card(desk: TelecomDesk) -> None:
    desk.set_device(sim_card_missing=True)
    desk.search_network()


def _lock_sim_card(desk: TelecomDesk, mode: str) -> None:
    if mode not in ("pin", "puk"):
        raise InvalidArgument(f"mode must be pin or puk, not {mode!r}")
    desk.set_device(sim_card_status=f"locked_{mode}")
    desk.search_network()


def _change_apn(desk: TelecomDesk, **changes: Any) -> None:
    desk.set_device(active_apn_settings={**desk.device["active_apn_settings"], **changes})


def _break_apn_settings(desk: TelecomDesk) -> None:
    _change_apn(desk, apn_name="broken")
    desk.search_network()


def _break_apn_mms_setting(desk: TelecomDesk) -> None:
    _change_apn(desk, mmsc_url=None)


def _set_wifi_calling(desk: TelecomDesk, enabled: bool, mms_over_wifi: bool | None = None) -> None:
    desk.set_device(wifi_calling_enabled=enabled)
    if mms_over_wifi is not None:
        desk.set_device(wifi_calling_mms_over_wifi=mms_over_wifi)


def _remove_app_permission(desk: TelecomDesk, app_name: str, permission: str) -> None:
    desk.set_permission(app_name, lower(permission), granted=False)


def _set_data_usage(desk: TelecomDesk, customer_id: str, line_id: str, data_used_gb: float) -> None:
    desk.find("C", customer_id)
    desk.put("L", {**desk.find("L", line_id), "data_used_gb": data_used_gb})


def _suspend_for_overdue_bill(
    desk: TelecomDesk, customer_id: str, line_id: str, new_bill_id: str, contract_ended: bool
) -> None:
    line = desk.find("L", line_id)
    if line["status"] != "Active":
        raise Refused("Line must be active to suspend for unpaid bill")
    price = desk.find("P", line["plan_id"])["price_per_month"]
    if price <= 0:
        raise Refused("Amount must be positive for overdue bill")
    customer = desk.find("C", customer_id)
    bills = [desk.find("B", id) for id in customer["bill_ids"]]
    if any(bill["status"] == "Overdue" for bill in bills):
        raise Refused("Customer already has an overdue bill")
    desk.add_bill(
        {
            "bill_id": new_bill_id,
            "customer_id": customer_id,
            "period_start": "2025-01-01",
            "period_end": "2025-01-31",
            "issue_date": "2025-01-01",
            "total_due": price,
            "due_date": "2025-01-15",
            "line_items": [make_item(f"Charge for line {line_id}", price)],
            "status": "Overdue",
        }
    )
    changes = {"status": "Suspended", "suspension_start_date": TODAY}
    if contract_ended:
        changes["contract_end_date"] = "2025-01-31"
    desk.put("L", {**line, **changes})


def _assert_flag(read: Callable[[TelecomDesk], Any]) -> Function:
    return lambda desk, expected_status: read(desk) == expected_status


def _assert_speed(
    desk: TelecomDesk, expected_speed: float, expected_desc: str | None = None
) -> bool:
    speed, name, _ = desk.speed or (0.0, "", "")
    if expected_desc is not None and name.lower() != expected_desc.lower():
        return False
    return speed >= expected_speed


def _assert_not_excellent(desk: TelecomDesk) -> bool:
    return desk.speed is None or desk.speed[1] != "Excellent"


def _assert_refueling(
    desk: TelecomDesk, customer_id: str, line_id: str, expected_amount: float
) -> bool:
    desk.find("C", customer_id)
    held: float = desk.find("L", line_id)["data_refueling_gb"]
    return abs(held - expected_amount) < 1e-6


def _assert_line_status(
    desk: TelecomDesk, customer_id: str, line_id: str, expected_status: str
) -> bool:
    desk.find("C", customer_id)
    return bool(desk.find("L", line_id)["status"] == expected_status)


def _assert_overdue(desk: TelecomDesk, customer_id: str, overdue_bill_id: str) -> bool:
    customer = desk.find("C", customer_id)
    if overdue_bill_id not in customer["bill_ids"]:
        raise NotFound(f"Overdue bill {overdue_bill_id} not found")
    if desk.find("B", overdue_bill_id)["status"] != "Overdue":
        raise Refused(f"Overdue bill {overdue_bill_id} is not overdue")
    return True


def _assert_not_overdue(desk: TelecomDesk, overdue_bill_id: str) -> bool:
    found = [bill for bill in desk.bills if bill["bill_id"] == overdue_bill_id]
    return not found or found[0]["status"] == "Paid"


_USER: Mapping[str, Function] = {
    "set_user_info": _set_user_info,
    "set_user_location": _set_user_location,
    "turn_airplane_mode_on": _switch("toggle_airplane_mode", "airplane_mode", True),
    "turn_airplane_mode_off": _switch("toggle_airplane_mode", "airplane_mode", False),
    "turn_roaming_on": _switch("toggle_roaming", "roaming_enabled", True),
    "turn_roaming_off": _switch("toggle_roaming", "roaming_enabled", False),
    "turn_data_off": _switch("toggle_data", "data_enabled", False),
    "turn_data_on": lambda desk: desk.set_device(data_enabled=True),
    "turn_data_saver_mode_on": _switch("toggle_data_saver_mode", "data_saver_mode", True),
    "turn_data_saver_mode_off": _switch("toggle_data_saver_mode", "data_saver_mode", False),
    "unseat_sim_card": _unseat_sim_card,
    "lock_sim_card": _lock_sim_card,
    "break_apn_settings": _break_apn_settings,
    "break_apn_mms_setting": _break_apn_mms_setting,
    "break_vpn": TelecomDesk.spoil_vpn,
    "set_wifi_calling": _set_wifi_calling,
    "remove_app_permission": _remove_app_permission,
    "simulate_network_search": TelecomDesk.search_network,
    "assert_airplane_mode_status": _assert_flag(lambda desk: desk.device["airplane_mode"]),
    "assert_mobile_roaming_status": _assert_flag(lambda desk: desk.device["roaming_enabled"]),
    "assert_mobile_data_saver_mode_status": _assert_flag(
        lambda desk: desk.device["data_saver_mode"]
    ),
    "assert_mobile_data_usage_exceeded": _assert_flag(
        lambda desk: desk.surroundings["mobile_data_usage_exceeded"]
    ),
    "assert_service_status": _assert_flag(lambda desk: desk.device["network_connection_status"]),
    "assert_mobile_data_status": _assert_flag(lambda desk: desk.has_mobile_data),
    "assert_can_send_mms": _assert_flag(lambda desk: desk.sends_mms),
    "assert_internet_speed": _assert_speed,
    "assert_internet_not_excellent": _assert_not_excellent,
}
_CARRIER: Mapping[str, Function] = {
    "set_data_usage": _set_data_usage,
    "suspend_line_for_overdue_bill": _suspend_for_overdue_bill,
    "assert_data_refueling_amount": _assert_refueling,
    "assert_line_status": _assert_line_status,
    "assert_overdue_bill_exists": _assert_overdue,
    "assert_no_overdue_bill": _assert_not_overdue,
}
_FUNCTIONS = {"user": _USER, "assistant": _CARRIER}


def run_function(desk: TelecomDesk, side: str, name: str, arguments: Mapping[str, Any]) -> Any:
    """Call a function of the agent, the user or the set-up; then call ``sync``.

    Raises:
        ToolError: The function refuses.
        InvalidArgument: The function is unknown, or the arguments do not fit.
    """
    function = _FUNCTIONS.get(side, {}).get(name)
    names = desk.USER_TOOLS if side == "user" else desk.AGENT_TOOLS
    if function is None and name in names:
        function = desk.TOOLS[name].function
    if function is None:
        raise InvalidArgument(f"the telecom world has no function {name!r:.80} for the {side}")
    try:
        value = function(desk, **arguments)
    except (TypeError, KeyError, AttributeError) as error:
        raise InvalidArgument(f"{name} does not take these arguments: {error}") from error
    desk.sync()
    return value
