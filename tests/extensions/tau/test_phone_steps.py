"""Requests to use the phone: texts of a telecom agent, and the calls that the user then makes."""

from __future__ import annotations

import pytest

from extensions.tau.phone_steps import STEPS
from extensions.users.requests import find_requests

SENTENCES = {
    "Please tell me which icons you see at the top of your screen.": "check_status_bar",
    "Could you check if your phone is in Airplane Mode?": "check_status_bar",
    "Please check if your phone has cellular service.": "check_status_bar",
    "Go ahead and take your phone out of Airplane Mode.": "toggle_airplane_mode",
    "Is your SIM card detected by your phone?": "check_sim_status",
    "Please take out the SIM card and put it back in.": "reseat_sim_card",
    "Could you switch your mobile data on?": "toggle_data",
    "Is your mobile data turned on?": "check_network_status",
    "Please check your phone's connection to the cellular network.": "check_network_status",
    "Please make sure data roaming is switched on.": "toggle_roaming",
    "Is Data Saver mode enabled on your phone?": "check_data_restriction_status",
    "Could you switch off the Data Saver?": "toggle_data_saver_mode",
    "What is your preferred network type set to?": "check_network_mode_preference",
    "Please update the network mode so that 5G is used.": "set_network_mode_preference",
    "Are you using a VPN?": "check_vpn_status",
    "Please disable the VPN connection.": "disconnect_vpn",
    "Please open the APN settings and tell me what you see.": "check_apn_settings",
    "Please restore the default APN settings.": "reset_apn_settings",
    'If you see an option to "Reset APN settings", please select it.': "reset_apn_settings",
    "Is Wi-Fi Calling turned on?": "check_wifi_calling_status",
    "Could you disable WiFi calling?": "toggle_wifi_calling",
    "Are you connected to Wi-Fi at the moment?": "check_wifi_status",
    "Please turn your phone off and on again.": "reboot_device",
    "Can you check if MMS is working now?": "can_send_mms",
    "Please check if your internet is faster now.": "run_speed_test",
    "I sent a request for $55. Please accept the request and make the payment.": "make_payment",
    "Your line is active. Is there anything else I can help you with?": "",
    "I will now check whether your line is suspended.": "",
    "If you are not sure how to check the APN settings, I can guide you.": "",
}


def names(text):
    return list(dict.fromkeys(each.step.function for each in find_requests(text, STEPS)))


def calls(text):
    return [each.step.function for each in find_requests(text, STEPS)]


@pytest.mark.parametrize(("text", "function"), SENTENCES.items())
def test_a_sentence_requests_a_function(text, function):
    assert names(text) == ([function] if function else [])


def test_a_question_about_permissions_needs_the_names_of_apps():
    apps = ["check_installed_apps", "check_app_permissions"]
    assert names("Does your messaging app have permission to access storage?") == apps


TEXTS = {
    "It seems that mobile data is off. Please enable it and run a speed test.": (
        "toggle_data run_speed_test"
    ),
    "A VPN can slow down your connection. Please disconnect from it.": "disconnect_vpn",
    "The next thing to look at is Wi-Fi Calling. Can you check that for me?": (
        "check_wifi_calling_status"
    ),
    "I have sent you the payment request. Please review and accept it.": (
        "check_payment_request make_payment"
    ),
    "Do you have Data Saver turned on? If yes, please turn it off.": (
        "check_data_restriction_status toggle_data_saver_mode"
    ),
    "Please make sure that data roaming is enabled on your phone.": "toggle_roaming",
    "Make sure to reboot your phone after resetting the APN settings.": "reboot_device",
    "The last step is to restart your phone.": "reboot_device",
    "Here are two fixes:\n1. Turn off Data Saver.\n2. Disconnect the VPN.\n\nThen reboot.": (
        "toggle_data_saver_mode disconnect_vpn reboot_device"
    ),
    "To reset your APN settings:\n- Open Settings.\n- Choose Reset to default.": (
        "reset_apn_settings"
    ),
    "Please check if Data Saver is on, and turn it off if necessary.": (
        "check_data_restriction_status toggle_data_saver_mode"
    ),
    "Please restart your phone. If that does not help, we can reset the APN settings.": (
        "reboot_device"
    ),
    "You already checked the APN settings, so let's look at Wi-Fi Calling. Is it enabled?": (
        "check_wifi_calling_status"
    ),
    "Please grant these:\n- Storage permission\n- SMS permission": (
        "grant_app_permission grant_app_permission"
    ),
    "Please check two settings: Data Saver and VPN.": (
        "check_data_restriction_status check_vpn_status"
    ),
    "For the next step, reset the APN settings, then reboot your phone.": (
        "reset_apn_settings reboot_device"
    ),
    "When you have a moment, check your VPN status.": "check_vpn_status",
    "Would you mind checking your SIM card status?": "check_sim_status",
    "Has your service been restored?": "check_status_bar",
    "Is MMS working now?": "can_send_mms",
    "Is your internet faster now?": "run_speed_test",
    "Turning on Data Saver may slow down your connection, so please keep it off.": "",
    "If you have trouble with it, let me know which icons you see.": "",
    "Let me know if you need help with the APN settings.": "",
    "Let me know once you have turned off the VPN.": "",
    "You will not lose photos when you reset your APN settings.": "",
}


@pytest.mark.parametrize(("text", "functions"), TEXTS.items())
def test_a_text_requests_functions(text, functions):
    assert sorted(calls(text)) == sorted(functions.split())


def test_items_of_what_the_phone_can_show_request_nothing():
    text = "Please check if your status bar shows any of these icons:\n- Airplane Mode\n- No SIM"
    assert names(text) == ["check_status_bar"]


def test_later_changes_depend_on_the_conditional_change_before_them():
    text = (
        "Please check and reset the APN settings:\n1. Check the APN settings.\n"
        "2. Reset them: If they are wrong, reset the APN settings.\n\n"
        "After the reset, restart your phone."
    )
    found = {each.step.function: each.depends for each in find_requests(text, STEPS)}
    assert found == {
        "check_apn_settings": False,
        "reset_apn_settings": True,
        "reboot_device": True,
    }


def test_items_below_a_heading_that_asks_for_checks_are_reads():
    text = "Could you please check:\n1. What network type is displayed\n2. If a VPN is active\n"
    assert names(text) == ["check_status_bar", "check_vpn_status"]


def test_only_the_first_of_several_steps_is_done_if_the_agent_says_so():
    text = (
        "1. Turn off the VPN.\n2. Turn on Data Roaming.\n\nLet's start by checking your SIM card."
    )
    assert names(text) == ["check_sim_status"]


def test_a_title_belongs_to_the_condition_after_it():
    text = "1. Reset APN Settings: If they are incorrect, reset them.\n2. Restart your phone."
    found = {each.step.function: each.depends for each in find_requests(text, STEPS)}
    assert found == {"reboot_device": False, "reset_apn_settings": True}


def test_a_condition_refers_to_the_setting_of_the_sentence_before_it():
    text = "Please check if Wi-Fi Calling is enabled. If it is, please try turning it off."
    found = {each.step.function: each.depends for each in find_requests(text, STEPS)}
    assert found == {"check_wifi_calling_status": False, "toggle_wifi_calling": True}


def test_an_offer_of_instructions_is_no_request_unless_the_user_may_act_at_once():
    offer = "Let's reset your APN settings. Would you like instructions"
    assert names(f"{offer}?") == []
    assert names(f"{offer}, or are you comfortable doing this on your own?") == [
        "reset_apn_settings"
    ]
