"""Calls in a model's own marks are read; what only looks like them is not."""

import pytest

import logtriage as lt
from logtriage.parsing import TEAM_KINDS, parse_plan, render_action
from tests.builders import SEVEN_SERVICES

ARGUMENTS = '{"team": "dba-team"}'
OBJECT = f'{{"name": "escalate", "arguments": {ARGUMENTS}}}'
THINKS = '<think>{"action_type": "ignore"}</think>'
MARKED = {
    "Kimi K2": "I page.<|tool_calls_section_begin|><|tool_call_begin|>functions.escalate:0"
    f"<|tool_call_argument_begin|>{ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|>",
    "DeepSeek V3": f"{THINKS}<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function"
    f"<｜tool▁sep｜>escalate\n```json\n{ARGUMENTS}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
    "DeepSeek V3.1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>escalate<｜tool▁sep｜>"
    f"{ARGUMENTS}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "DeepSeek V3.2": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="escalate">\n'
    '<｜DSML｜parameter name="team" string="true">dba-team</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    "</｜DSML｜function_calls>",
    "Mistral": f"[TOOL_CALLS][{OBJECT}]",
    "Mistral, cut": f"[TOOL_CALLS] [{OBJECT}]</s>",
    "Mistral v11": f"[TOOL_CALLS]escalate[ARGS]{ARGUMENTS}",
    "Mistral v11, ids": f"[THINK]hm[/THINK][TOOL_CALLS]escalate[CALL_ID]abc123def[ARGS]{ARGUMENTS}",
    "GLM": "<tool_call>escalate\n<arg_key>team</arg_key>\n<arg_value>dba-team</arg_value>\n"
    "</tool_call>",
    "LongCat": "<longcat_tool_call>escalate\n<longcat_arg_key>team</longcat_arg_key>\n"
    "<longcat_arg_value>dba-team</longcat_arg_value>\n</longcat_tool_call>",
    "MiniMax M1": f"<tool_calls>\n{OBJECT}\n</tool_calls>",
    "MiniMax M2": '<minimax:tool_call>\n<invoke name="escalate">\n<parameter name="team">dba-team'
    "</parameter>\n</invoke>\n</minimax:tool_call>",
    "Claude": '<function_calls>\n<invoke name="escalate">\n<parameter name="team">dba-team'
    "</parameter>\n</invoke>\n</function_calls>",
    "Step": "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke "
    'name="escalate"><steptml:parameter name="team">dba-team</steptml:parameter>'
    "</steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>",
    "Harmony": "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary "
    f"to=functions.escalate <|constrain|>json<|message|>{ARGUMENTS}<|call|>",
    "Harmony, to first": "<|start|>assistant to=functions.escalate<|channel|>commentary "
    f"json<|message|>{ARGUMENTS}",
    "Harmony, analysis": "<|channel|>analysis to=functions.escalate code<|message|>"
    f"{ARGUMENTS}<|call|>",
    "Harmony, marks lost": f"I page.assistantcommentary to=functions.escalate json{ARGUMENTS}",
    "Qwen": f"<tool_call>\n{OBJECT}\n</tool_call>",
    "Qwen's coders": "<function=escalate>\n<parameter=team>\ndba-team\n</parameter>\n</function>",
    "Seed": "<seed:tool_call><function=escalate><parameter=team>dba-team</parameter></function>"
    "</seed:tool_call>",
    "Llama": f'<|python_tag|>{{"name": "escalate", "parameters": {ARGUMENTS}}}<|eom_id|>',
    "Llama, bare": f'{{"type": "function", "name": "escalate", "parameters": {ARGUMENTS}}}',
    "Llama, in Python": '[escalate(team="dba-team")]',
    "Llama 4": '<|python_start|>[escalate(team="dba-team")]<|python_end|>',
    "Functionary": f"<function=escalate>{ARGUMENTS}</function>",
    "Granite": f"<|tool_call|>[{OBJECT}]",
    "Phi": f"functools[{OBJECT}]",
    "Command": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "escalate", "parameters": '
    f"{ARGUMENTS}}}]<|END_ACTION|>",
    "InternLM": f"<|action_start|><|plugin|>\n{OBJECT}<|action_end|>",
    "Nemotron": f"<TOOLCALL>[{OBJECT}]</TOOLCALL>",
    "Hunyuan": f"<tool_calls>\n<tool_call>escalate\n```json\n{ARGUMENTS}\n```\n</tool_call>"
    "</tool_calls>",
    "LFM": '<|tool_call_start|>[escalate(team="dba-team")]<|tool_call_end|>',
    "Olmo": '<function_calls>\nescalate("dba-team")\n</function_calls>',
    "Apertus": f'<|tools_prefix|>[{{"escalate": {ARGUMENTS}}}]<|tools_suffix|>',
    "Gemma": '```tool_code\nprint(escalate(team="dba-team"))\n```',
    "xLAM": f"[{OBJECT}]",
    "in a fence": f"```json\n{OBJECT}\n```",
}


@pytest.mark.parametrize("model", MARKED)
def test_a_call_in_a_models_own_marks_is_read(model: str) -> None:
    assert lt.parse_action(MARKED[model], SEVEN_SERVICES) == lt.Escalate("dba-team")
    assert parse_plan(MARKED[model], SEVEN_SERVICES) == [lt.Escalate("dba-team")]


@pytest.mark.parametrize(
    "text",
    [
        "<|tool_call_begin|>functions.escalate:0<|tool_call_argument_begin|>"
        f"{ARGUMENTS}<|tool_call_end|><|tool_call_begin|>functions.resolve:1"
        "<|tool_call_argument_begin|>{}<|tool_call_end|>",
        f"[TOOL_CALLS]escalate[ARGS]{ARGUMENTS}[TOOL_CALLS]resolve[ARGS]{{}}",
        '<minimax:tool_call><invoke name="escalate"><parameter name="team">dba-team</parameter>'
        '</invoke><invoke name="resolve"></invoke></minimax:tool_call>',
        f'{OBJECT}; {{"name": "resolve", "parameters": {{}}}}',
        '[escalate(team="dba-team"), resolve()]',
    ],
)
def test_several_calls_are_read_in_order(text: str) -> None:
    assert parse_plan(text, SEVEN_SERVICES) == [lt.Escalate("dba-team"), lt.Resolve()]


def test_a_call_without_arguments_is_its_name() -> None:
    assert lt.parse_action("<tool_call>resolve\n</tool_call>", SEVEN_SERVICES) == lt.Resolve()


def test_marks_without_types_give_a_confidence_as_a_number() -> None:
    call = (
        '<invoke name="identify_root_cause"><parameter name="service">user-db</parameter>'
        '<parameter name="confidence">0.5</parameter></invoke>'
    )
    assert lt.parse_action(call, SEVEN_SERVICES) == lt.IdentifyRootCause("user-db", 0.5)
    unsure = lt.parse_action(call.replace("0.5", "high"), SEVEN_SERVICES)
    assert isinstance(unsure, lt.Malformed)
    assert "confidence must be a number" in unsure.reason
    call = "remediate\n<arg_key>remedy</arg_key><arg_value>scale</arg_value>\n"
    call = f"<tool_call>{call}<arg_key>service</arg_key><arg_value>user-db</arg_value></tool_call>"
    assert lt.parse_action(call, SEVEN_SERVICES) == lt.Remediate("scale", "user-db")


@pytest.mark.parametrize(
    "text",
    [
        f"I would call {OBJECT}",  # JSON without marks is prose, unless it is all there is
        "[escalate]",
        "page(team='dba-team')",
        '{"name": "escalate"}',
        "<|channel|>final<|message|>to=functions.escalate<|return|>",
        f"<think>[TOOL_CALLS][{OBJECT}]</think>I wait.",
    ],
)
def test_what_is_no_call_is_none(text: str) -> None:
    assert isinstance(lt.parse_action(text, SEVEN_SERVICES), lt.Malformed)


@pytest.mark.parametrize(
    "text", [*MARKED.values(), "to=functions.resolve json{}", "```tool_code\n"]
)
def test_a_report_is_never_taken_for_a_call(text: str) -> None:
    report = lt.Report(text[:200])
    assert lt.parse_action(render_action(report), SEVEN_SERVICES, TEAM_KINDS) == report
