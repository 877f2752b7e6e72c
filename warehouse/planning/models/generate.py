"""GENERATE to a ``Training``: names found, values checked, columns chosen. Runs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from warehouse.catalog.entries import Column
from warehouse.errors import Span, WarehouseError, fail
from warehouse.language.fragments import Fragment
from warehouse.language.names import quote_name
from warehouse.language.statements import Generate, GeneratorCall, Name, QueryShape
from warehouse.planning.algorithms import OUTPUTS, Algorithm, Kind, Library, Role, kind_of, snake
from warehouse.planning.models.arguments import Call, Reader, advice
from warehouse.planning.models.training import LABEL, SEED, Assembly, OwnStep, Prepared, Search, Step, Training

_ALWAYS = {
    "predictionCol": ("prediction", Kind.NUMBER), "probabilityCol": ("probability", Kind.VECTOR),
    "rawPredictionCol": ("rawPrediction", Kind.VECTOR), "topicDistributionCol": ("topicDistribution", Kind.VECTOR),
}  # fmt: skip
"""Columns that are added without being asked for, as MLlib names them."""

_OF_FORMULA = {"featuresCol": ("features", Kind.VECTOR), "labelCol": ("label", Kind.NUMBER)}
"""Those that a formula adds."""

_NUMBERS = ("labelCol", "weightCol", "censorCol", "offsetCol", "ratingCol")
_TAUGHT = ("labelCol", "weightCol", "censorCol", "ratingCol", "validationIndicatorCol", "foldCol")
_OPTIONAL = ("weightCol", "offsetCol", "validationIndicatorCol", "foldCol", "probabilityCol")
_ASSEMBLED = (Kind.NUMBER, Kind.BOOLEAN, Kind.STRING, Kind.VECTOR, Kind.ARRAY)


@dataclass(frozen=True)
class Source:
    """The rows that a chain reads: a query for them, their columns, and the words that name them."""

    relation: Fragment
    columns: tuple[Column, ...]
    place: Span


@dataclass(frozen=True)
class _Port:
    """A column that a step may read: the user's name, its name in the frame, what it is.

    Attributes:
        column: that of the input which has to be prepared first, or None for an output of the step before.
    """

    name: str
    inner: str
    kind: Kind
    column: Column | None = None


@dataclass
class _Flow:
    """What the steps so far have come to.

    Attributes:
        taught: the columns that are no features, lower case.
        onehot: strings become one-hot where they enter a vector.
        produced: what the last step made.
    """

    columns: tuple[Column, ...]
    taught: frozenset[str]
    onehot: bool
    prepared: dict[str, Prepared] = field(default_factory=dict)
    produced: tuple[_Port, ...] = ()
    steps: list[Step] = field(default_factory=list)


def calls_of(statement: Generate) -> list[GeneratorCall]:
    """Return the calls of a chain, innermost first."""
    found = [statement.call]
    while isinstance(found[-1].input, GeneratorCall):
        found.append(found[-1].input)
    return found[::-1]


def source_of(statement: Generate) -> Name | QueryShape:
    """Return the table or the query at the bottom of a chain."""
    innermost = calls_of(statement)[0].input
    assert not isinstance(innermost, GeneratorCall)
    return innermost


def bind(library: Library, statement: Generate, source: Source) -> Training:
    """Return the statement, bound.

    Raises:
        WarehouseError: no such algorithm, parameter or column; a value of a wrong type or out of range; calls that
            cannot stand in each other.
    """
    reader = Reader(library, statement.source)
    found = [(call, reader.algorithm(call)) for call in calls_of(statement)]
    search = found.pop() if found[-1][1].role is Role.SEARCH else None
    before, core, after = _parts(found)
    if search and (after or not core or core[-1][1].role not in (Role.ESTIMATOR, Role.WRAPPER)):
        fail("WAREHOUSE_GENERATE_NOTHING_TO_SEARCH", search[0].place, name=search[1].name)
    options = reader.options([*core, *([search] if search else [])])
    columns, under = _own(reader, source.columns, before)
    searching = reader.call(*search, tuple(a for _, a in core)) if search else None
    steps = _Steps(reader, columns, [reader.call(*one) for one in core], searching, options.get("strings"))
    flow = steps.flow()
    searched = steps.search(searching) if searching else None
    made = (*columns, *(Column(name, "") for step in flow.steps[-1:] for name, _ in step.outputs))
    _, over = _own(reader, made, after)
    return Training(
        source.relation, source.columns, columns, under, tuple(flow.prepared.values()), tuple(flow.steps), over,
        searched, options.get("nulls", "error"), options.get("unseen", "error"), source.place,
    )  # fmt: skip


_Found = Sequence[tuple[GeneratorCall, Algorithm]]


def _parts(found: _Found) -> tuple[_Found, _Found, _Found]:
    """Return the chain in three: the user's own generators under MLlib's calls, these, and those over them."""
    for call, algorithm in found[:-1]:
        if algorithm.role in (Role.SEARCH, Role.EVALUATOR, Role.DIRECT) or algorithm.has("statement"):
            fail("WAREHOUSE_GENERATE_OUTERMOST", call.place, name=algorithm.name)
    core = [i for i, (_, a) in enumerate(found) if a.role is not Role.OWN]
    first, end = (core[0], core[-1] + 1) if core else (len(found), len(found))
    for call, algorithm in found[first:end]:
        if algorithm.role is Role.OWN:
            fail("WAREHOUSE_GENERATE_OWN_BETWEEN", call.place, name=algorithm.name)
    return found[:first], found[first:end], found[end:]


def _own(reader: Reader, columns: tuple[Column, ...], found: _Found) -> tuple[tuple[Column, ...], tuple[OwnStep, ...]]:
    """Return the columns that generators of the user's own come to, and the generators with their arguments."""
    steps = []
    for plain, algorithm in found:
        call = reader.call(plain, algorithm)
        for parameter in algorithm.parameters:
            if parameter.required and parameter.name not in call.values:
                fail(
                    "WAREHOUSE_GENERATOR_PARAMETER_MISSING", plain.place, name=algorithm.name, parameter=parameter.name
                )
        declared = algorithm.returns.strip()
        kept = columns if declared.startswith("*") else ()
        declared = declared.removeprefix("*").strip().removeprefix(",")
        try:
            columns = (*kept, *(reader.library.schema(declared) if declared.strip() else ()))
        except WarehouseError as error:
            reason = (
                f"returns, {algorithm.returns!r}, names no columns with their types: {error.diagnostics[0].message}"
            )
            fail("WAREHOUSE_UDF_BROKEN", plain.place, file=f"{plain.name}.py", reason=reason.rstrip("."))
        values = tuple((name, reader.value(call, name)) for name in call.values)
        steps.append(OwnStep(algorithm, values, columns, plain.place))
    return columns, tuple(steps)


class _Steps:
    """Binds MLlib's calls of one chain."""

    def __init__(
        self, reader: Reader, columns: tuple[Column, ...], calls: list[Call], search: Call | None, strings: str | None
    ):
        self.reader, self.calls = reader, calls
        weighs = any(call.algorithm.weighs for call in calls)
        taught = self._taught([*calls, search] if search else calls)
        self._flow = _Flow(columns, taught, strings == "onehot" or (strings is None and weighs))

    def flow(self) -> _Flow:
        """Return the steps, with the columns that have to be prepared for them."""
        for number, call in enumerate(self.calls):
            self._add(call, outermost=number == len(self.calls) - 1)
        return self._flow

    def _taught(self, calls: list[Call]) -> frozenset[str]:
        """Return the names of the columns that some call takes for a label, a weight and the like, lower case."""
        names: set[str] = set()
        for call in calls:
            for parameter in call.algorithm.reads_columns:
                value = call.values.get(parameter)
                if value is not None:
                    listed = self.reader.names(value, call.place(parameter), parameter)
                    names |= {name.lower() for name, _ in listed}
                elif parameter not in _OPTIONAL or call.algorithm.role is Role.EVALUATOR:
                    names.add(_default(call.algorithm, parameter).lower())
        return frozenset(names)

    # ---------------------------------------------------------------- one step

    def _add(self, call: Call, outermost: bool) -> None:
        algorithm, flow = call.algorithm, self._flow
        inner = flow.steps.pop() if algorithm.role is Role.WRAPPER and flow.steps else None
        if algorithm.role is Role.WRAPPER and (inner is None or not inner.algorithm.classifies):
            fail("WAREHOUSE_GENERATE_NOTHING_TO_WRAP", call.call.place, name=algorithm.name)
        settings: dict[str, Any] = {}
        columns = (*algorithm.reads_columns, *OUTPUTS, "features", "labelCol")
        plain = [name for name in call.values if name not in columns]
        for name in plain:
            settings[name] = self.reader.value(call, name)
        given = tuple(settings.items())
        if algorithm.has("seed"):
            settings.setdefault("seed", SEED)
        assembly, ports = None, list[_Port]()
        if inner:
            assembly = inner.assembly
            settings |= {name: inner.setting(name) for name in ("featuresCol", "labelCol")}
        elif algorithm.has("formula") or algorithm.has("statement"):
            for column in flow.columns:
                flow.prepared[column.name] = Prepared(column.name, column.name, Kind.OTHER, column.type, nullable=True)
        else:
            for name in algorithm.reads_columns:
                self._read_column(call, name, settings)
            assembly, ports = self._features(call, settings)
        outputs = self._outputs(call, settings, ports, outermost)
        if inner:  # whose raw predictions are compared
            inner = replace(inner, settings=(*inner.settings, ("rawPredictionCol", settings["rawPredictionCol"])))
        step = Step(
            algorithm, tuple(settings.items()), given, assembly,
            tuple((p.name, p.kind) for p in outputs), call.call.place, inner, algorithm.has("statement"),
        )  # fmt: skip
        flow.steps.append(step)
        flow.produced = outputs

    def _read_column(self, call: Call, parameter: str, settings: dict[str, Any]) -> None:
        """Prepare a column that is no feature: a label, a weight, the user of a rating."""
        algorithm, flow = call.algorithm, self._flow
        if parameter in call.values:
            named = self.reader.names(call.values[parameter], call.place(parameter), parameter)
            ((name, place), *_) = named
        else:
            name, place = _default(algorithm, parameter), call.call.place
        made = next((p for p in flow.produced if p.name.lower() == name.lower()), None)
        if made:
            settings[parameter] = made.inner
            return
        if parameter not in call.values and not any(c.name.lower() == name.lower() for c in flow.columns):
            if parameter in _OPTIONAL:
                return
            condition = "LABEL_MISSING" if parameter == "labelCol" else "COLUMN_MISSING"
            what = snake(parameter).removesuffix("_col")
            fail(f"WAREHOUSE_GENERATE_{condition}", place, name=algorithm.name, what=what, column=name)
        if parameter in _OPTIONAL and parameter not in call.values and algorithm.role is not Role.EVALUATOR:
            return
        column = self._column(name, place)
        kind, wanted = kind_of(column.type), Kind.OTHER
        if parameter in _NUMBERS and algorithm.family != "evaluation":
            if kind not in (Kind.NUMBER, Kind.BOOLEAN):
                condition = "LABEL_TYPE" if parameter == "labelCol" else "COLUMN_TYPE"
                fail(
                    f"WAREHOUSE_GENERATE_{condition}", place, column=quote_name(column.name), type=column.type,
                    name=algorithm.name, wanted="a number or a boolean",
                )  # fmt: skip
            wanted = Kind.NUMBER
        elif algorithm.role is Role.EVALUATOR:
            wanted = {Kind.ARRAY: Kind.VECTOR, Kind.NUMBER: Kind.NUMBER, Kind.BOOLEAN: Kind.NUMBER}.get(kind, wanted)
            if algorithm.name in ("RankingEvaluator", "MultilabelClassificationEvaluator"):
                wanted = Kind.OTHER
        inner = LABEL if parameter == "labelCol" else f"__w_{snake(parameter).removesuffix('_col')}"
        known = flow.prepared.get(inner)
        if known and known.column != column.name:
            fail("WAREHOUSE_GENERATOR_PARAMETER_TWICE", place, parameter=snake(parameter))
        taught = parameter in _TAUGHT
        flow.prepared[inner] = Prepared(inner, column.name, wanted, column.type, taught)
        settings[parameter] = inner

    def _column(self, name: str, place: Span) -> Column:
        found = next((c for c in self._flow.columns if c.name.lower() == name.lower()), None)
        if found is None:
            known = [c.name for c in self._flow.columns]
            told = advice(name, known, f"There are {', '.join(known)}.")
            fail("WAREHOUSE_GENERATE_COLUMN_NOT_FOUND", place, column=name, advice=told)
        return found

    # ---------------------------------------------------------------- features

    def _features(self, call: Call, settings: dict[str, Any]) -> tuple[Assembly | None, list[_Port]]:
        """Choose the columns that a step reads, and say how; return what makes one vector of them, and them."""
        algorithm = call.algorithm
        reads = next((n for n in ("featuresCol", "inputCol", "inputCols") if algorithm.has(n)), None)
        if reads is None:
            return None, []
        named = "features" in call.values
        ports = self._named_ports(call, settings) if named else self._default_ports(call, reads)
        as_vector = reads == "featuresCol" or (
            Kind.VECTOR in algorithm.accepts
            and reads != "inputCols"
            and not (named and all(p.kind in algorithm.accepts and p.kind is not Kind.VECTOR for p in ports))
        )
        if not as_vector:
            self._read_each(call, ports, settings)
            return None, ports
        for port in ports:
            if port.kind not in _ASSEMBLED:
                fail(
                    "WAREHOUSE_GENERATE_COLUMN_TYPE", call.place("features"), column=port.name,
                    type=port.column.type if port.column else "what the call in the brackets makes of it",
                    name=algorithm.name, wanted="a number, a boolean, a string, or an array of numbers",
                )  # fmt: skip
        inputs = tuple(self._prepared(port, "c") for port in ports)
        if len(inputs) == 1 and inputs[0][1] is Kind.VECTOR:
            settings[reads] = inputs[0][0]
            return None, ports
        assembly = Assembly(inputs, f"__w_features{len(self._flow.steps)}", self._flow.onehot)
        settings[reads] = assembly.output
        return assembly, ports

    def _named_ports(self, call: Call, settings: dict[str, Any]) -> list[_Port]:
        ports = []
        listed = self.reader.names(call.values["features"], call.place("features"), "features")
        for name, place in listed:
            made = next((p for p in self._flow.produced if p.name.lower() == name.lower()), None)
            ports.append(made or self._port(self._column(name, place)))
        used = [p.inner for p in ports] + list(settings.values())
        if self._flow.produced and not any(p.inner in used for p in self._flow.produced):
            produced = ", ".join(p.name for p in self._flow.produced)
            fail("WAREHOUSE_GENERATE_INNER_UNUSED", call.place("features"), name=call.algorithm.name, produced=produced)
        return ports

    def _port(self, column: Column) -> _Port:
        number = self._flow.columns.index(column)
        return _Port(column.name, str(number), kind_of(column.type), column)

    def _default_ports(self, call: Call, reads: str) -> list[_Port]:
        """Return what a step reads that names no columns: what the step before made, or the fitting columns."""
        algorithm, flow = call.algorithm, self._flow
        vector = reads == "featuresCol" or (reads == "inputCol" and Kind.VECTOR in algorithm.accepts)
        fitting = _ASSEMBLED if vector else tuple(k for k in Kind if k in algorithm.accepts)
        if flow.produced:
            ports = [p for p in flow.produced if p.kind in fitting and p.name.lower() not in flow.taught]
        else:
            free = [c for c in flow.columns if c.name.lower() not in flow.taught]
            ports = [p for p in map(self._port, free) if p.kind in fitting]
            if Kind.STRING in algorithm.accepts and not algorithm.gathers and any(p.kind is Kind.STRING for p in ports):
                ports = [p for p in ports if p.kind is Kind.STRING]
        if not ports:
            there = ", ".join(p.name for p in flow.produced) or ", ".join(f"{c.name} {c.type}" for c in flow.columns)
            fail("WAREHOUSE_GENERATE_NO_FEATURES", call.call.place, name=algorithm.name, there=there)
        return ports

    def _prepared(self, port: _Port, letter: str) -> tuple[str, Kind]:
        """Return the name in the frame of a column that enters a vector, and what it is there."""
        if port.column is None:
            return port.inner, port.kind
        made = {Kind.BOOLEAN: Kind.NUMBER, Kind.ARRAY: Kind.VECTOR}.get(port.kind, port.kind)
        name = f"__w_{letter}{port.inner}"
        self._flow.prepared[name] = Prepared(name, port.column.name, made, port.column.type)
        return name, made

    def _read_each(self, call: Call, ports: list[_Port], settings: dict[str, Any]) -> None:
        """Let a step read columns as they are."""
        algorithm = call.algorithm
        for port in ports:
            as_vector = port.kind is Kind.ARRAY and Kind.VECTOR in algorithm.accepts
            if port.kind not in algorithm.accepts and not as_vector:
                wanted = " or ".join(sorted(k.name.lower() for k in algorithm.accepts))
                fail(
                    "WAREHOUSE_GENERATE_COLUMN_TYPE", call.place("features"), column=port.name,
                    type=port.column.type if port.column else port.kind.name, name=algorithm.name, wanted=wanted,
                )  # fmt: skip
        as_list = len(ports) > 1 or "outputCols" in call.values or not algorithm.has("inputCol")
        several = as_list and algorithm.has("inputCols")
        if len(ports) > 1 and not several:
            listed = ", ".join(p.name for p in ports)
            fail("WAREHOUSE_GENERATE_COLUMN_CHOICE", call.call.place, name=algorithm.name, columns=listed)
        names = []
        for port in ports:
            if port.column is None:
                names.append(port.inner)
                continue
            kind = Kind.VECTOR if port.kind is Kind.ARRAY and Kind.ARRAY not in algorithm.accepts else Kind.OTHER
            as_named = algorithm.gathers and kind is Kind.OTHER and not set(".`") & set(port.name)
            name = port.name if as_named else f"__w_r{port.inner}"
            nullable = algorithm.has("handleInvalid") or algorithm.has("missingValue")
            self._flow.prepared[name] = Prepared(name, port.column.name, kind, port.column.type, nullable=nullable)
            names.append(name)
        if several:
            settings["inputCols"] = names
        else:
            settings["inputCol"] = names[0]

    # ---------------------------------------------------------------- outputs

    def _outputs(self, call: Call, settings: dict[str, Any], ports: list[_Port], outermost: bool) -> tuple[_Port, ...]:
        """Name the columns that a step adds."""
        algorithm = call.algorithm
        if algorithm.role in (Role.EVALUATOR, Role.DIRECT):
            return ()
        makes = dict(algorithm.makes)
        kind = makes.get(Kind.VECTOR) or makes.get(ports[0].kind if ports else Kind.OTHER) or Kind.VECTOR
        if "inputCol" in settings and ports and ports[0].kind in makes and settings["inputCol"].startswith("__w_r"):
            kind = makes[ports[0].kind]
        wanted: list[tuple[str, tuple[str, ...], Kind]] = []
        always = _OF_FORMULA if algorithm.has("formula") else _ALWAYS
        for parameter in (n for n in dict.fromkeys((*always, *OUTPUTS)) if algorithm.has(n)):
            argument = "features" if parameter == "featuresCol" else parameter
            several = isinstance(settings.get("inputCols"), list) and algorithm.has("outputCols")
            if argument in call.values:
                listed = self.reader.names(call.values[argument], call.place(argument), parameter)
                names = tuple(name for name, _ in listed)
            elif parameter in always:
                names = (always[parameter][0],)
            elif parameter == "outputCols" and several:
                names = tuple(f"{p.name}_{snake(algorithm.name)}" for p in ports)
            elif parameter == "outputCol" and not several:
                names = (snake(algorithm.name),)
            else:
                continue
            if parameter == "labelCol":
                self._flow.taught |= {names[0].lower()}
                if self._label_is_there(names[0], settings, outermost):
                    settings[parameter] = names[0]
                    continue
            wanted.append((parameter, names, always.get(parameter, ("", kind))[1]))
        made = []
        taken = {c.name.lower() for c in self._flow.columns}
        for parameter, names, its_kind in wanted:
            for name in names:
                if outermost and name.lower() in taken:
                    instead = f"{snake(parameter)} => '{snake(algorithm.name)}_{name.lower()}'"
                    fail(
                        "WAREHOUSE_GENERATE_OUTPUT_TAKEN", call.place(parameter), name=algorithm.name, column=name,
                        instead=instead,
                    )  # fmt: skip
                inner = name if outermost else f"__w_{len(self._flow.steps)}_{name}"
                made.append(_Port(name, inner, its_kind))
            inners = [p.inner for p in made[-len(names) :]]
            settings[parameter] = inners if parameter == "outputCols" else inners[0]
        return tuple(made)

    def _label_is_there(self, name: str, settings: dict[str, Any], outermost: bool) -> bool:
        """Say whether a formula adds no label: it has none, or it is the column of that name, which stays as it is."""
        response = settings.get("formula", "").partition("~")[0].strip().strip("`")
        numbers = {c.name for c in self._flow.columns if kind_of(c.type) is Kind.NUMBER}
        stays = outermost and name == response and name in numbers and not settings.get("forceIndexLabel")
        return not response or stays

    # ---------------------------------------------------------------- search

    def search(self, call: Call) -> Search:
        """Return the search around the steps: lists for parameters of theirs are what is tried."""
        algorithm, flow = call.algorithm, self._flow
        settings: dict[str, Any] = {"seed": SEED}
        grid: list[tuple[int, str, tuple[Any, ...]]] = []
        metric = None
        for name, value in call.values.items():
            place = call.place(name)
            if name == "metric":
                if not isinstance(value, str):
                    fail("WAREHOUSE_GENERATE_METRIC", place, value=place.of(self.reader.text.text), known="a name")
                metric = value
            elif name in algorithm.reads_columns:
                self._read_column(call, name, settings)
            elif algorithm.has(name):
                settings[name] = self.reader.value(call, name)
            else:
                number = max(i for i, s in enumerate(flow.steps) if (s.inner or s).algorithm.has(name))
                its = (flow.steps[number].inner or flow.steps[number]).algorithm
                parameter = its.parameter(name)
                assert parameter
                nested = isinstance(value, tuple) and any(isinstance(v, tuple) for v in value)
                several = nested or (isinstance(value, tuple) and not parameter.type.startswith("ARRAY"))
                tried = value if isinstance(value, tuple) and several else (value,)
                grid.append((number, name, tuple(self.reader.checked(its, parameter, v, place) for v in tried)))
        return Search(algorithm, tuple(settings.items()), tuple(grid), metric, call.call.place)


def _default(algorithm: Algorithm, parameter: str) -> str:
    """Return the column that MLlib means where a parameter is left out."""
    found = next((p.default for p in algorithm.parameters if p.name == parameter), None)
    return found or parameter.removesuffix("Col")
