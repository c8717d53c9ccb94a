"""Analog programs reach a device unchanged, or are refused with the place, the limit and the value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from braket.ir.ahs.program_v1 import Program

from qjs_executor.child.analog import amazon_checks, device_checks, text
from qjs_executor.child.refusals import Unsupported
from qjs_executor.child.targets.ahs import compile_analog
from qjs_executor.child.targets.target import parse_target

from ...support.analog import AQUILA, DETUNED, LOCAL, LOCAL_TARGET, PROGRAM, TARGET, WITH_LOCAL, changed, text_of
from ...support.executor import FOLDER


def compiled(payload: str, target: dict[str, Any] = TARGET) -> dict[str, Any]:
    return compile_analog({"kind": "circuit", "format": "ahs", "payload": payload}, parse_target(target))


def refusal(program: Any, target: dict[str, Any] = TARGET) -> str:
    with pytest.raises(Unsupported) as caught:
        compiled(program if isinstance(program, str) else text_of(program), target)
    return caught.value.message


@pytest.mark.parametrize(
    "payload",
    [
        text_of(PROGRAM),
        json.dumps(PROGRAM, separators=(",", ":")),
        f"\n\t {text_of(PROGRAM)} \n",
        Program.parse_obj(PROGRAM).json(),
        text_of(PROGRAM).replace('"5.5e-6"', "5.5e-6").replace("localDetuning", "shiftingFields"),
    ],
)
def test_a_program_within_the_limits_is_passed_on_byte_for_byte(payload: str) -> None:
    assert compiled(payload) == {
        "format": "ahs",
        "program": payload,
        "media_type": "application/json",
        "qubits": 4,
        "readout": {"kind": "sites", "bits": [0, 1, 2, 3]},
        "openqasm3": None,
        "registers": [{"name": "sites", "size": 4}],
        "circuit_info": {
            "num_qubits": 4,
            "num_atoms": 3,
            "duration_seconds": 4e-6,
            "has_local_detuning": False,
        },
        "warnings": [],
    }


def test_the_example_is_within_the_limits_of_the_device() -> None:
    assert compiled((FOLDER.parent.parent / "examples" / "analog.json").read_text())["qubits"] == 5


def test_local_detuning_within_the_limits_is_passed_on() -> None:
    payload = text_of(DETUNED)
    answer = compiled(payload, LOCAL_TARGET)
    assert answer["program"] == payload and answer["circuit_info"]["has_local_detuning"]


REGISTER = "setup.ahs_register"
DRIVING = "hamiltonian.drivingFields.0"
AMPLITUDE, PHASE, DETUNING = (f"{DRIVING}.{name}.time_series" for name in ("amplitude", "phase", "detuning"))

BEYOND: list[tuple[str, Any, str]] = [
    (f"{REGISTER}.sites.1", ["3.9e-6", "0"], r"setup.ahs_register: Sites 0([Decimal('0'), Decimal('0')]) and site 1([Decimal('0.0000039'), Decimal('0')]) are too close. Their Euclidean distance (0.0000039 meters) is smaller than the device's limit (0.000004 meters)."),
    (f"{REGISTER}.sites.1", ["7.51e-5", "0"], "have x-separation bigger than the device's limit (0.000075 meters)"),
    (f"{REGISTER}.sites.2", ["0", "7.61e-5"], "have y-separation bigger than the device's limit (0.000076 meters)"),
    (f"{REGISTER}.sites.1", ["5.501e-6", "0"], "setup.ahs_register.sites[1][0]: must be a multiple of 1E-8 m, the device's resolution (got 0.000005501)"),
    (f"{REGISTER}.sites.1", ["5.5e-6", "1e-6"], "setup.ahs_register.sites: sites 0 and 1 are 0.000001 m apart in y; rows of the device are at least 0.000004 m apart"),
    (f"{AMPLITUDE}.values", ["0", "15800400", "15800400", "0"], "hamiltonian.drivingFields[0]: Value 1 (15800400) in amplitude time series outside the device's range [0.0, 15800000.0]"),
    (f"{AMPLITUDE}.values", ["0", "-400", "400", "0"], "Value 1 (-400) in amplitude time series outside the device's range [0.0, 15800000.0]"),
    (f"{AMPLITUDE}.values", ["0", "15700001", "15700000", "0"], "hamiltonian.drivingFields[0].amplitude.time_series.values[1]: must be a multiple of 400.0 rad/s, the device's resolution (got 15700001)"),
    (f"{AMPLITUDE}.values", ["400", "400", "400", "0"], "hamiltonian.drivingFields[0].amplitude.time_series.values: the first one must be 0 (got 400)"),
    (f"{AMPLITUDE}.values", ["0", "400", "400", "400"], "hamiltonian.drivingFields[0].amplitude.time_series.values: the last one must be 0 (got 400)"),
    (f"{AMPLITUDE}.times", ["0", "1e-8", "3.9e-6", "4e-6"], "hamiltonian.drivingFields[0].amplitude.time_series.times[1]: must be at least 5E-8 s after the time before it (got 1E-8 s)"),
    (f"{AMPLITUDE}.times", ["0", "1.0005e-7", "3.9e-6", "4e-6"], "hamiltonian.drivingFields[0].amplitude.time_series.times[1]: must be a multiple of 1E-9 s, the device's resolution (got 1.0005E-7)"),
    (f"{DETUNING}.values", ["-125000000.2", "0"], "Value 0 (-125000000.2) in detuning time series outside the device's range [-125000000.0, 125000000.0]"),
    (f"{DETUNING}.values", ["0.1", "0"], "hamiltonian.drivingFields[0].detuning.time_series.values[0]: must be a multiple of 0.2 rad/s, the device's resolution (got 0.1)"),
    (f"{PHASE}.values", ["0", "99.5"], "hamiltonian.drivingFields[0].phase.time_series.values[1]: must be from -99.0 to 99.0 rad (got 99.5)"),
    (f"{PHASE}.values", ["1", "0"], "hamiltonian.drivingFields[0].phase.time_series.values: the first one must be 0 (got 1)"),
    (f"{PHASE}.values", ["0", "0.0000001"], "hamiltonian.drivingFields[0].phase.time_series.values[1]: must be a multiple of 5E-7 rad, the device's resolution (got 1E-7)"),
    (f"{PHASE}.times", ["0", "4.1e-6"], "hamiltonian.drivingFields[0].phase.time_series: Max time is 0.0000041 seconds which is bigger than the device's limit (0.000004 seconds)"),
    ("hamiltonian.localDetuning", DETUNED["hamiltonian"]["localDetuning"], "hamiltonian.localDetuning: the device has no local detuning; leave the list empty"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "value", "message"), BEYOND)
def test_what_is_beyond_the_device_is_refused_with_place_limit_and_value(place: str, value: Any, message: str) -> None:
    assert message in refusal(changed(PROGRAM, place, value))


def test_a_pulse_that_rises_too_fast_is_refused() -> None:
    steep = changed(PROGRAM, f"{AMPLITUDE}.times", ["0", "5e-8", "3.95e-6", "4e-6"])
    steep["hamiltonian"]["drivingFields"][0]["amplitude"]["time_series"]["values"][1:3] = ["15760000", "15760000"]
    slow = {"rabiFrequencySlewRateMax": 315.2e12}
    device = {**AQUILA, "rydberg": {"rydbergGlobal": {**AQUILA["rydberg"]["rydbergGlobal"], **slow}}}
    compiled(text_of(steep), {**TARGET, "limits": device})
    slow["rabiFrequencySlewRateMax"] = 315.1e12
    device = {**AQUILA, "rydberg": {"rydbergGlobal": {**AQUILA["rydberg"]["rydbergGlobal"], **slow}}}
    assert refusal(steep, {**TARGET, "limits": device}) == (
        "hamiltonian.drivingFields[0].amplitude.time_series.values[1]: changes by 15760000 within 5E-8 s; the device's"
        " slew rate is at most 315100000000000.0 per second"
    )


LOCAL_BEYOND: list[tuple[str, Any, str]] = [
    ("pattern", ["1.1", "0", "0", "0"], "magnitude pattern value 0 is 1.1; it must be between 0.0 and 1.0"),
    ("pattern", ["1", "0", "0"], "The length of pattern (3) of local detuning 0 must equal the number of atom array sites (4)"),
    ("pattern", ["1", "1", "1", "0"], "hamiltonian.localDetuning[0].magnitude.pattern: the device detunes at most 2 sites (got 3 coefficients that are not 0)"),
    ("pattern", "uniform", "Pattern of local detuning must not be a string - uniform"),
    ("time_series.values", ["0", "1.3e8", "0"], "in magnitude time series outside the device's range [0.0, 125000000.0]"),
    ("time_series.values", ["0", "1e7", "1e7"], "hamiltonian.localDetuning[0].magnitude.time_series.values: the last one must be 0 (got 1E+7)"),
    ("time_series.times", ["0", "1e-8", "4e-6"], "must be at least 5E-8 s after the time before it (got 1E-8 s)"),
    ("time_series.times", ["0", "2.0000001e-6", "4e-6"], "must be a multiple of 1E-9 s"),
    ("time_series.times", ["0", "2e-6", "3e-6"], "hamiltonian: The timepoints for all the sequences are not equal."),
]  # fmt: skip


@pytest.mark.parametrize(("place", "value", "message"), LOCAL_BEYOND)
def test_local_detuning_beyond_the_device_is_refused(place: str, value: Any, message: str) -> None:
    program = changed(DETUNED, f"hamiltonian.localDetuning.0.magnitude.{place}", value)
    assert message in refusal(program, LOCAL_TARGET)


def test_detuned_sites_have_a_distance_of_their_own() -> None:
    far = {**WITH_LOCAL, "rydberg": {**AQUILA["rydberg"], "rydbergLocal": {**LOCAL, "spacingRadialMin": 5.6e-6}}}
    assert refusal(DETUNED, {**TARGET, "limits": far}) == (
        "hamiltonian.localDetuning[0].magnitude.pattern: sites 0 and 2 are closer than 0.0000056 m, the least distance"
        " of two sites with a coefficient that is not 0"
    )


def test_too_many_sites_and_atoms_are_refused() -> None:
    sites = [[f"{5 * (index % 16)}e-6", f"{5 * (index // 16)}e-6"] for index in range(5)]
    register = {"sites": sites, "filling": [1] * 5}
    program = changed(PROGRAM, REGISTER, register)
    few = {**AQUILA, "lattice": {**AQUILA["lattice"], "geometry": {**AQUILA["lattice"]["geometry"], "numberSitesMax": 4}}}  # fmt: skip
    message = "setup.ahs_register.sites: the device has at most 4 sites (got 5)"
    assert refusal(program, {**TARGET, "limits": few}) == message
    assert refusal(program, {**TARGET, "num_qubits": 4}) == message
    assert refusal(program, {**TARGET, "limits": {**AQUILA, "qubitCount": 4}}) == (
        "setup.ahs_register.filling: the device holds at most 4 atoms (got 5)"
    )
    none = changed(PROGRAM, REGISTER, {"sites": [], "filling": []})
    assert refusal(none) == "setup.ahs_register.sites: must have at least one site"


def test_the_limits_are_the_devices_and_not_those_of_amazons_simulator() -> None:
    # The simulator has 25,000,000 rad/s and 20 microseconds.
    wide = {"rabiFrequencyRange": [0, 3e7], "rabiFrequencySlewRateMax": 1e15, "timeMax": 1e-4}
    device = {**AQUILA, "rydberg": {"rydbergGlobal": {**AQUILA["rydberg"]["rydbergGlobal"], **wide}}}
    program = changed(PROGRAM, f"{AMPLITUDE}.values", ["0", "3e7", "3e7", "0"])
    for name in ("amplitude", "phase", "detuning"):
        times = program["hamiltonian"]["drivingFields"][0][name]["time_series"]["times"]
        times[-1] = "1e-4"
    compiled(text_of(program), {**TARGET, "limits": device})


def test_a_warning_of_amazons_validators_alone_is_a_refusal() -> None:
    limits = parse_target(TARGET).limits
    assert limits is not None
    program = text.read(text_of(changed(PROGRAM, f"{AMPLITUDE}.values", ["0", "16000000", "16000000", "0"])))
    device_checks.check_for_device(program, limits)
    with pytest.raises(Unsupported, match=r"^hamiltonian\.drivingFields\[0\]: Value 1"):
        amazon_checks.check_by_amazon(program, limits)


MALFORMED: list[tuple[str, Any, str]] = [
    ("braketSchemaHeader", ..., "the analog program: braketSchemaHeader is missing"),
    ("braketSchemaHeader.version", "2", 'braketSchemaHeader.version: must be "1" (got "2")'),
    ("braketSchemaHeader.version", 1, 'braketSchemaHeader.version: must be "1" (got 1)'),
    ("braketSchemaHeader.name", "braket.ir.openqasm.program", "braketSchemaHeader.name: must be"),
    ("results", [], 'the analog program: "results" is not a member of it'),
    ("hamiltonian.shiftingFields", [], 'hamiltonian: "localDetuning" is not a member of it'),
    ("hamiltonian.drivingFields", [], "hamiltonian.drivingFields: must have one driving field"),
    ("hamiltonian.drivingFields", [{}, {}], "hamiltonian.drivingFields: must have at most 1 entry (got 2)"),
    ("hamiltonian.drivingFields", {}, "hamiltonian.drivingFields: must be a list (got an object)"),
    (f"{DRIVING}.phase", ..., "hamiltonian.drivingFields[0]: phase is missing"),
    (f"{DRIVING}.rabi", {}, 'hamiltonian.drivingFields[0]: "rabi" is not a member of it (amplitude, phase, detuning)'),
    (f"{DRIVING}.amplitude.pattern", ["1"], 'Pattern of amplitude must be "uniform"'),
    (f"{DRIVING}.amplitude.pattern", 1, "hamiltonian.drivingFields[0].amplitude.pattern: must be"),
    (f"{DRIVING}.amplitude.pattern", "all", "hamiltonian.drivingFields[0].amplitude: Invalid pattern string (all)"),
    (f"{AMPLITUDE}.values", ["0", "1", "0"], "(length: 4) and the values (length: 3) must have the same length"),
    (f"{AMPLITUDE}.times", [], "amplitude.time_series: Length of times must be at least 2; it is 0"),
    (f"{AMPLITUDE}.times", ["0", "2e-6", "1e-6", "4e-6"], "must be monotonically increasing"),
    (f"{AMPLITUDE}.times", ["1e-7", "2e-7", "1e-6", "4e-6"], "First time value is 1E-7; it must be 0.0"),
    (f"{AMPLITUDE}.times", ["0", "1e-7", "3e-6", "3.5e-6"], "The last timepoints for all the sequences are not equal"),
    (f"{REGISTER}.filling", [1, 1, 1], "Filling length (3) does not match sites length (4)"),
    (f"{REGISTER}.filling.0", 2, "setup.ahs_register.filling[0]: must be 1 for an atom or 0 for none (got 2)"),
    (f"{REGISTER}.filling.0", 1.9, "setup.ahs_register.filling[0]: must be 1 for an atom or 0 for none (got 1.9)"),
    (f"{REGISTER}.filling.0", True, "setup.ahs_register.filling[0]: must be 1 for an atom or 0 for none (got true)"),
    (f"{REGISTER}.filling.0", "1", 'setup.ahs_register.filling[0]: must be 1 for an atom or 0 for none (got "1")'),
    (f"{REGISTER}.sites.0", ["0"], "has length 1; it must be 2"),
    (f"{REGISTER}.sites.0", ["0", "0", "0"], "setup.ahs_register.sites[0]: must have at most 2 entries (got 3)"),
    (f"{REGISTER}.sites.0", "00", 'setup.ahs_register.sites[0]: must be a list (got "00")'),
]


@pytest.mark.parametrize(("place", "value", "message"), MALFORMED)
def test_a_malformed_program_is_refused_with_its_place(place: str, value: Any, message: str) -> None:
    assert message in refusal(changed(PROGRAM, place, value))


NUMBERS: list[Any] = ["1e999999999", "1e-999999999", "9" * 41, "NaN", "Infinity", "1_000", " 1", "٣", "0x10", "1e", "", None, True, {}, []]  # fmt: skip


@pytest.mark.parametrize("value", NUMBERS)
def test_what_is_not_a_bounded_number_is_refused(value: Any) -> None:
    for place in (f"{REGISTER}.sites.0.0", f"{AMPLITUDE}.values.1", f"{PHASE}.times.1"):
        assert "must be a number of at most 40 characters" in refusal(changed(PROGRAM, place, value))


HOSTILE = {
    "not JSON": ("{,}", "is not JSON"),
    "a byte order mark": (f"\ufeff{text_of(PROGRAM)}", "is not JSON"),
    "not an object": ("[]", "must be an object (got a list of 0)"),
    "deep": ("[" * 500_000, "nested too deeply"),
    "a deep member": (text_of(PROGRAM).replace('"uniform"', "[" * 200 + "]" * 200, 1), "must be a number"),
    "NaN": (text_of(PROGRAM).replace('"15700000.0"', "NaN", 1), "NaN is not a JSON number"),
    "a huge number": (text_of(PROGRAM).replace('"15700000.0"', "9" * 100_000, 1), "must be a number of at most"),
    "a member twice": (text_of(PROGRAM).replace('"filling"', '"sites": [], "filling"'), "stands twice in one object"),
    "many members": (json.dumps({str(index): 0 for index in range(50_000)}), "is not a member of it"),
    "many sites": (text_of(changed(PROGRAM, f"{REGISTER}.sites", [["0", "0"]] * 50_000)), "at most 256 entries"),
    "many times": (text_of(changed(PROGRAM, f"{AMPLITUDE}.times", ["0"] * 100_000)), "at most 1000 entries"),
    "a wrong type with much in it": (text_of(changed(PROGRAM, REGISTER, [[]] * 100_000)), "got a list of 100000"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_refused(name: str) -> None:
    payload, message = HOSTILE[name]
    assert message in refusal(payload)


def test_the_largest_program_is_checked() -> None:
    """Far within the time of a compilation, which is its bound."""
    sites = [[f"{4 * (index % 16)}e-6", f"{4 * (index // 16)}e-6"] for index in range(256)]
    program = changed(DETUNED, REGISTER, {"sites": sites, "filling": [1] * 256})
    series = {"times": [f"{index * 4}e-9" for index in range(1_000)] + ["4e-6"], "values": ["0"] * 1_000}
    del series["times"][500]
    program["hamiltonian"]["localDetuning"][0]["magnitude"] = {"time_series": series, "pattern": ["0.5"] * 256}
    fine = {**LOCAL, "timeDeltaMin": 0, "numberLocalDetuningSitesMax": 256, "spacingRadialMin": 0}
    limits = {**AQUILA, "rydberg": {**AQUILA["rydberg"], "rydbergLocal": fine}}
    assert compiled(text_of(program), {**TARGET, "limits": limits})["qubits"] == 256


def test_the_wrong_kind_of_program_for_a_device_is_refused_by_name() -> None:
    with pytest.raises(Unsupported, match="target braket: the source is an analog program"):
        compiled(text_of(PROGRAM), {"format": "braket"})
    for source in (
        {"kind": "circuit", "format": "qasm3", "payload": "OPENQASM 3.0;"},
        {"kind": "code", "framework": "qiskit", "code": "raise SystemExit"},
    ):
        with pytest.raises(Unsupported, match=r"target ahs: the device runs analog programs \(ahs\) only"):
            compile_analog(source, parse_target(TARGET))


BAD_LIMITS: list[tuple[Any, str]] = [
    (None, "target.limits: must be an object (got nothing)"),
    ({}, "target.limits.lattice: must be an object"),
    (changed(AQUILA, "lattice.area.width", "wide"), "target.limits.lattice.area.width: must be a number"),
    (changed(AQUILA, "lattice.area.width", -1), "target.limits.lattice.area.width: must be a number that is not"),
    (changed(AQUILA, "lattice.geometry.numberSitesMax", 1.5), "target.limits.lattice.geometry.numberSitesMax: must be"),
    (changed(AQUILA, "rydberg.rydbergGlobal.phaseRange", [1, 0]), "target.limits.rydberg.rydbergGlobal.phaseRange"),
    (changed(AQUILA, "rydberg.rydbergGlobal.timeMax", ...), "target.limits.rydberg.rydbergGlobal.timeMax: must be"),
    (changed(WITH_LOCAL, "rydberg.rydbergLocal", []), "target.limits.rydberg.rydbergLocal: must be an object"),
]


@pytest.mark.parametrize(("limits", "message"), BAD_LIMITS)
def test_wrong_limits_are_refused_with_their_place(limits: Any, message: str) -> None:
    with pytest.raises(ValueError, match="target") as caught:
        parse_target({"format": "ahs", "limits": limits})
    assert str(caught.value).startswith(message)
