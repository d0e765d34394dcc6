"""The places for answers, and questions that were sent away, as Prometheus is told of them."""

from collections.abc import Iterator

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from app.web.admission import Admission, Refusal


def answer_metrics(admission: Admission) -> Iterator[Metric]:
    """Of this process, since it started; of all tenants."""
    yield GaugeMetricFamily("preread_answers_running", "Answers that this process makes.", admission.running)
    yield GaugeMetricFamily("preread_answers_waiting", "Questions that wait for a place here.", admission.waiting)
    refused = CounterMetricFamily("preread_answers_refused", "Questions sent away by this process.", labels=["reason"])
    for reason in Refusal:
        refused.add_metric([reason], admission.refused[reason])
    yield refused


__all__ = ["answer_metrics"]
