"""The samples of a node as Prometheus' own library writes them. They are read when somebody asks, and kept nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from mixbayes.node.log import Log
from mixbayes.node.metrics.catalogue import COUNTER, ERRORS, GAUGE, METRICS, Metric
from mixbayes.node.metrics.samples import GROUPS, Group, Sample
from mixbayes.node.observed import Observed
from mixbayes.node.repeated import Repeated


def registry_of(node: Observed, log: Log) -> CollectorRegistry:
    """The metrics of this node and of its process, and nothing else that the process may have registered elsewhere."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(NodeCollector(node, log))
    ProcessCollector(registry=registry)
    return registry


class NodeCollector(Collector):
    """Reads the node's state. A part of it that cannot be read is left out and counted."""

    def __init__(self, node: Observed, log: Log, groups: Iterable[Group] = GROUPS) -> None:
        self._node = node
        self._log = log
        self._groups = tuple(groups)
        self._repeated = Repeated()
        self._errors = 0

    def describe(self) -> Iterable[Family]:
        """What there can be: to be registered, a collector need not be read."""
        return [_family(metric, []) for metric in METRICS]

    def collect(self) -> Iterator[Family]:
        found = [sample for group in self._groups for sample in self._read(group)]
        found.append(Sample(ERRORS, self._errors))
        for metric in METRICS:
            if samples := [sample for sample in found if sample.metric is metric]:
                yield _family(metric, samples)

    def _read(self, group: Group) -> list[Sample]:
        try:
            return list(group(self._node))
        except Exception as error:  # noqa: BLE001 - the other groups are worth having
            self._errors += 1
            self._repeated.failed(self._log, error, "metrics are left out", group=group.__name__)
            return []


def _family(metric: Metric, samples: Iterable[Sample]) -> Family:
    if metric.kind is GAUGE:
        gauges = GaugeMetricFamily(metric.name, metric.help, labels=metric.labels)
        for sample in samples:
            gauges.add_metric(sample.labels, sample.value)
        return gauges
    if metric.kind is COUNTER:
        counters = CounterMetricFamily(metric.name, metric.help, labels=metric.labels)
        for sample in samples:
            counters.add_metric(sample.labels, sample.value)
        return counters
    summaries = SummaryMetricFamily(metric.name, metric.help, labels=metric.labels)
    for sample in samples:
        summaries.add_metric(sample.labels, count_value=sample.times, sum_value=sample.value)
    return summaries
