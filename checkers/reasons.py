"""Why episodes fail: a table of reasons, with what each means."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Explained(StrEnum):
    """Names that come with what they mean."""

    meaning: str
    """What it means, without a full stop."""

    def __new__(cls, value: str, meaning: str = "") -> Self:
        """Make a member of its value and its meaning."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member


class Reason(Explained):
    """Why an episode failed; all but those that say so are BFCL's error types."""

    INFERENCE_ERROR = (
        "multi_turn:inference_error",
        "there is no record of the model's steps, only an error",
    )
    FORCE_TERMINATED = (
        "multi_turn:force_terminated",
        "the record does not have the trajectory's number of turns: the step limit ended it",
    )
    EMPTY_TURN = (
        "multi_turn:empty_turn_model_response",
        "something was to be done, and the model made no call",
    )
    STATE_MISMATCH = (
        "multi_turn:instance_state_mismatch",
        "the state differs from what the ground truth leads to",
    )
    RESPONSE_MISMATCH = (
        "multi_turn:execution_response_mismatch",
        "a result that the ground truth needed is not among the model's results so far",
    )
    # Ours.
    CHANGE_IN_EMPTY_TURN = (
        "multi_turn:state_change_in_empty_turn",
        "nothing was to be done, and the model changed the state (strict profile only)",
    )
    GUESSED_ARGUMENT = (
        "multi_turn:guessed_argument",
        "the model gave a function a value that nobody had told it (strict profile only)",
    )
    ABSENT_FUNCTION = (
        "multi_turn:absent_function",
        "nothing was to be done, and the model called a function that is not there (strict "
        "profile only)",
    )
    NOT_TOLD = (
        "multi_turn:not_told",
        "the user asked to hear something that no answer told (only with --require-told)",
    )
    # Ours, of entries of any kind; to BFCL each is an inference error.
    CONTEXT_OVERFLOW = (
        "inference_error:context_overflow",
        "the conversation grew longer than the model's context",
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
        "the conversation grew larger than the server takes",
    )
    NO_ANSWER = (
        "inference_error:no_answer",
        "a request got no answer, and --errors-as counts that as a failure",
    )

    DECODER_FAILED = "ast_decoder:decoder_failed", "no call can be read in the answer"
    WRONG_FORMAT = "ast_decoder:decoder_wrong_output_format", "what was read is not a list of calls"
    SIMPLE_COUNT = "simple_function_checker:wrong_count", "one call was expected"
    MULTIPLE_COUNT = "multiple_function_checker:wrong_count", "one call was expected"
    PARALLEL_COUNT = (
        "parallel_function_checker_no_order:wrong_count",
        "another number of calls was expected",
    )
    NO_MATCH = (
        "parallel_function_checker_no_order:cannot_find_match",
        "one of the expected calls was not made",
    )
    FUNCTION = "simple_function_checker:wrong_func_name", "another function was to be called"
    MISSING_REQUIRED = "simple_function_checker:missing_required", "a required argument is left out"
    UNEXPECTED = (
        "simple_function_checker:unexpected_param",
        "an argument is given that the function does not take, or that was not to be given",
    )
    MISSING_OPTIONAL = (
        "simple_function_checker:missing_optional",
        "an argument is left out that was needed here",
    )
    TYPE = "type_error:simple", "an argument is not of its type"
    ITEM_TYPE = "type_error:nested", "an element of an argument is not of its type"
    JAVA_TEXT = "type_error:java", "an argument is not the text of a Java expression"
    JAVASCRIPT_TEXT = "type_error:js", "an argument is not the text of a JavaScript expression"
    STRING = "value_error:string", "the text is none of those allowed"
    LIST = "value_error:list/tuple", "the list is none of those allowed"
    DICT_KEY = "value_error:dict_key", "the keys are not those expected"
    DICT_VALUE = "value_error:dict_value", "a member is none of those allowed"
    DICT_COUNT = "value_error:list_dict_count", "the list has not the expected number of objects"
    OTHER_VALUE = "value_error:others", "the value is none of those allowed"
    DICT_UNCLEAR = "dict_checker:unclear", "there is no object to compare with"
    DICTS_UNCLEAR = "list_dict_checker:unclear", "there is no list to compare with"
    CALL_MADE = "irrelevance_error:decoder_success", "no function fits, and one was called"
    NO_CALL_MADE = "relevance_error:decoder_failed", "a function fits, and none was called"

    # Ours, of entries whose results are compared.
    RESULT_COUNT = "executable_checker:wrong_count", "another number of calls was expected"
    REFUSED = "executable_checker:execution_error", "the call is refused"
    RESULT_TYPE = "executable_checker:wrong_result_type", "a result has a value of another type"
    RESULT_STRUCTURE = (
        "executable_checker:wrong_result_structure",
        "a result has another length, or other keys",
    )
    RESULT_VALUE = "executable_checker:wrong_result_value", "a result has another value"
    RESULT_NO_MATCH = (
        "executable_checker:cannot_find_match",
        "one of the expected results was not seen",
    )
    DATABASE = (
        "executable_checker:wrong_database",
        "the database is not what the right statements leave (strict profile only)",
    )
