"""Reasons for failure: every reason and its meaning."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class ExplainedEnum(StrEnum):
    """String enum; each member has the attribute ``meaning``."""

    meaning: str
    """Clause that explains the enum member; the clause ends without a full stop."""

    def __new__(cls, value: str, meaning: str = "") -> Self:
        """Create a member from its value and meaning."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member


class Reason(ExplainedEnum):
    """Reasons for a failure: BFCL's error types and Turnwise's additions."""

    INFERENCE_ERROR = (
        "multi_turn:inference_error",
        "the record contains an error instead of steps of the model",
    )
    FORCE_TERMINATED = (
        "multi_turn:force_terminated",
        "the step limit ended the episode before its last turn",
    )
    EMPTY_TURN = (
        "multi_turn:empty_turn_model_response",
        "the turn needed calls, and the model made none",
    )
    STATE_MISMATCH = (
        "multi_turn:instance_state_mismatch",
        "the final state of the turn differs from the ground truth's",
    )
    RESPONSE_MISMATCH = (
        "multi_turn:execution_response_mismatch",
        "the model has not seen a result that the ground truth needs",
    )
    # Ours.
    CHANGE_IN_EMPTY_TURN = (
        "multi_turn:state_change_in_empty_turn",
        "the turn needed no calls, and the model changed the state (strict profile only)",
    )
    GUESSED_ARGUMENT = (
        "multi_turn:guessed_argument",
        "the model invented the value of an argument (strict profile only)",
    )
    ABSENT_FUNCTION = (
        "multi_turn:absent_function",
        "the turn needed no calls, and the model called an unknown function (strict profile only)",
    )
    PROHIBITED_CALL = (
        "multi_turn:prohibited_call",
        "the model made a prohibited call or undid an action that others saw (strict profile only)",
    )
    WRONG_ORDER = (
        "multi_turn:wrong_order",
        "the calls or items are not in the order that the user asked for (strict profile only)",
    )
    NOT_TOLD = (
        "multi_turn:not_told",
        "the answers lack required information (only with --require-info)",
    )
    # Ours, for entries that extensions judge.
    CRITERIA_NOT_MET = "criteria:not_met", "the episode does not meet the criteria of its task"
    # Ours, for dialogues.
    ENDED_EARLY = (
        "dialogue:ended_early",
        "the dialogue stopped before the user or the agent ended it",
    )
    WRONG_STATE = (
        "dialogue:wrong_state",
        "the final state of the world differs from the ground truth's final state",
    )
    FAILED_ASSERTION = ("dialogue:failed_assertion", "an assertion about the final state is false")
    NO_CONSENT = ("dialogue:no_consent", "a call that needs consent was made without consent")
    FALSE_CLAIM = ("dialogue:false_claim", "the agent claimed an act that did not happen")
    MISSING_ACTION = ("dialogue:missing_action", "a needed call was not made")
    NOT_COMMUNICATED = (
        "dialogue:not_communicated",
        "the agent did not report all required information",
    )
    FAILED_STATEMENT = (
        "dialogue:failed_statement",
        "a judge model or a check found that a natural-language assertion is false",
    )
    # Ours, for entries of any kind; BFCL counts each as an inference error.
    CONTEXT_OVERFLOW = (
        "inference_error:context_overflow",
        "the conversation exceeded the model's context window",
    )
    UNPARSED_CALL = (
        "inference_error:unparsed_call",
        "the model wrote a call that its server could not parse",
    )
    CONTENT_POLICY = (
        "inference_error:content_policy",
        "the provider's content policy refused the conversation or the answer",
    )
    REQUEST_TOO_LARGE = (
        "inference_error:request_too_large",
        "the request exceeded the server's size limit",
    )
    NO_ANSWER = (
        "inference_error:no_answer",
        "a request got no answer, and --errors-as counts this as a failure",
    )

    DECODER_FAILED = "ast_decoder:decoder_failed", "the answer could not be parsed as calls"
    WRONG_FORMAT = "ast_decoder:decoder_wrong_output_format", "the answer is not a list of calls"
    SIMPLE_COUNT = "simple_function_checker:wrong_count", "one call was expected"
    MULTIPLE_COUNT = "multiple_function_checker:wrong_count", "one call was expected"
    PARALLEL_COUNT = (
        "parallel_function_checker_no_order:wrong_count",
        "the number of calls is wrong",
    )
    NO_MATCH = (
        "parallel_function_checker_no_order:cannot_find_match",
        "an expected call was not made",
    )
    FUNCTION = "simple_function_checker:wrong_func_name", "another function was expected"
    MISSING_REQUIRED = "simple_function_checker:missing_required", "a required argument is missing"
    UNEXPECTED = (
        "simple_function_checker:unexpected_param",
        "the function does not have this parameter, or the argument is not expected",
    )
    MISSING_OPTIONAL = (
        "simple_function_checker:missing_optional",
        "an optional argument that this entry needs is missing",
    )
    TYPE = "type_error:simple", "an argument has the wrong type"
    ITEM_TYPE = "type_error:nested", "an element of an argument has the wrong type"
    JAVA_TEXT = "type_error:java", "an argument is not a string with a Java expression"
    JAVASCRIPT_TEXT = "type_error:js", "an argument is not a string with a JavaScript expression"
    STRING = "value_error:string", "the string is not one of the allowed values"
    LIST = "value_error:list/tuple", "the list is not one of the allowed values"
    DICT_KEY = "value_error:dict_key", "the object has wrong keys"
    DICT_VALUE = "value_error:dict_value", "the value of a field is not one of the allowed values"
    DICT_COUNT = "value_error:list_dict_count", "the list has a wrong number of objects"
    OTHER_VALUE = "value_error:others", "the value is not one of the allowed values"
    DICT_UNCLEAR = "dict_checker:unclear", "the expected answers allow no object"
    DICTS_UNCLEAR = "list_dict_checker:unclear", "the expected answers allow no list"
    CALL_MADE = "irrelevance_error:decoder_success", "no function fits, but the model made a call"
    NO_CALL_MADE = "relevance_error:decoder_failed", "a function fits, but the model made no call"

    # Ours, for entries whose results are compared.
    RESULT_COUNT = "executable_checker:wrong_count", "the number of calls is wrong"
    REFUSED = "executable_checker:execution_error", "the call was refused"
    RESULT_TYPE = "executable_checker:wrong_result_type", "a result has a value of the wrong type"
    RESULT_STRUCTURE = (
        "executable_checker:wrong_result_structure",
        "a result has a wrong length or wrong keys",
    )
    RESULT_VALUE = "executable_checker:wrong_result_value", "a result has a wrong value"
    RESULT_NO_MATCH = "executable_checker:cannot_find_match", "no call gave an expected result"
    DATABASE = (
        "executable_checker:wrong_database",
        "the database differs from the ground truth's database (strict profile only)",
    )
