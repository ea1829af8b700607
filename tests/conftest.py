"""Settings that all tests share."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

# A first call compiles, which takes seconds: no deadline. The full run tries more.
settings.register_profile("default", deadline=None, max_examples=18, derandomize=True)
settings.register_profile("full", deadline=None, max_examples=400)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

LONG = (
    "test_pipeline_killed.py::test_killed",  # as test_killed.py and tests/kafka do, too
    "test_pipeline.py::test_from_kafka_to_files",
    "test_broker.py::test_spark_reads_and_writes",
    "test_parts.py::test_found_without_asking['6i']",
    "test_streams.py::test_early[rows]",
    "test_streams.py::test_slices[window0]",  # as test_several.py does, too
    "test_demo.py::test_the_whole_way",
    "test_pipeline.py::test_from_kafka_to_kafka",
    "test_streams.py::test_early[a grid]",
    "test_against_spark.py::test_windows_of_time[America/New_York-timestamp_ntz]",
    "test_parts.py::test_found_without_asking[delta('d', 5)]",
    "test_slices.py::test_the_same_answers_step_by_step[a grid-12-False]",
    "test_shard.py::test_stops[rows, open-0-numbers]",
    "test_pipeline_store.py::test_stopped_and_with_another_checkpoint",
    "test_pipeline_store.py::test_the_same_answers_as_of_sparks_state",
    "test_several.py::test_a_stream_answers_as_a_batch_does[slices]",
    "test_own_operators.py::test_in_a_script",
    "test_session.py::test_a_session_of_the_users",
    "test_session.py::test_whose_settings_win",
    "test_pipelines.py::test_a_file_with_other_columns",
    "test_shipping.py::test_a_policy_with_a_helper_compiled",
    "test_against_spark.py::test_rows_between[right]",
    "test_streams.py::test_a_row_that_fails[True]",
    "test_keys_and_order.py::test_few_rows[1]",
    "test_parts.py::test_found_without_asking[5]",
    "test_drawn.py::test_drawn",
    "test_parts.py::test_found_without_asking[last(3, every='4i')]",
    "test_against_spark.py::test_windows_of_time[America/New_York-timestamp]",
    # What takes Numba longest, and differs least from other cases.
    "test_answer_types.py::test_in_bulk[LongestRise()]",
    "test_answer_types.py::test_in_bulk[MomentSketch",
    "test_answer_types.py::test_sketches_and_runs[LongestRise()",
    "test_answer_types.py::test_sketches_and_runs[MomentSketch",
    "test_answer_types.py::test_in_bulk[Skewness()]",
    "test_answer_types.py::test_in_bulk[PlainMean()]",
    "test_answer_types.py::test_in_bulk[MinCount()]",
    "test_compiled.py::test_slide[daba_lite-LongestRise()]",
    "test_every_algorithm.py::test_many_keys[last('9i')-amta]",
    "test_every_algorithm.py::test_many_keys[last(4)-amta]",
    "test_moment_sketch.py::test_compiled[float64-10]",
    "test_out_of_order.py::test_compiled_and_single_calls[Affine()-False]",
    "test_policy_compiled.py::test_any_batches[amta-partials]",
    "test_policy_compiled.py::test_any_batches[log_mta-a mean, which may be null]",
    "test_policy_compiled.py::test_nulls_have_no_answer_now_or_later",
    "test_policy_compiled.py::test_windows_whose_lengths_nothing_bounds",
    "test_pool.py::test_any_batches[amta-Affine()]",
    "test_pool.py::test_any_batches[daba_cached-Affine()]",
    "test_pool.py::test_any_batches[slide_side-Affine()]",
    "test_pool.py::test_any_batches[two_stacks-Affine()]",
    "test_pool_content.py::test_windows_go_on_where_they_were[daba]",
    "test_pool_content.py::test_windows_go_on_where_they_were[fiba]",
    "test_rolling.py::test_every_operator_over_the_last_rows[LongestRise()]",
    "test_second_thread.py::test_nulls_and_windows_without_a_value",
    "test_shared.py::test_fifty_queries_in_compiled_loops[cutty]",
    "test_pool.py::test_any_batches[flat_fat-Affine()]",
    "test_pool.py::test_any_batches[two_stacks_lite-LongestRise()]",
    "test_slices.py::test_the_same_answers_step_by_step[a grid-0-True]",
    "test_slices.py::test_the_same_answers_step_by_step[a grid-None-False]",
    "test_slices.py::test_the_same_answers_step_by_step[a grid-5-False]",
    "test_shard.py::test_stops[rows-12-numbers]",
    "test_like_spark.py::test_in_chunks[nulls-1]",
    "test_like_spark.py::test_in_chunks[long_before_1970-1000]",
    "test_plan.py::test_many_ranges_at_every_row",
    "test_out_of_order.py::test_compiled_and_single_calls[Max()-True]",
    "test_policy_compiled.py::test_any_batches[amta-a function and what it takes from around it]",
    "test_policy_compiled.py::test_several_answers_by_name",
    "test_answer_types.py::test_earlier_rows_by_key[operator1]",
    "test_second_thread.py::test_the_threshold_decides",
    "test_runs.py::test_compiled[bool]",
    "test_refused_rows.py::test_a_policy_that_fails[600]",
    "test_shard.py::test_stops[rows-None-numbers]",
    "test_like_spark.py::test_in_chunks[long_before_1970-1]",
    "test_policy_compiled.py::test_any_batches[log_mta-all must leave]",
    "test_pool.py::test_any_batches_with_nulls[Sum()]",
    "test_user_operators.py::TestNames::test_members_whose_names_begin_alike",
    # Beside which `sash figures --quick` runs in every test run.
    "test_against_spark.py::test_windows_of_time[Asia/Kolkata-timestamp]",
    "test_slices.py::test_the_same_answers_step_by_step[a grid-0-False]",
    "test_like_spark.py::test_in_chunks[nan-1]",
    "test_like_spark.py::test_in_chunks[nulls-7]",
    "test_like_spark.py::test_in_chunks[long_before_1970-7]",
    "test_rolling.py::test_every_operator_over_the_last_rows[MomentSketch",
    "test_rolling.py::test_every_operator_over_the_last_rows[Skewness()]",
    "test_pool_content.py::test_damage_is_refused_or_does_no_harm[daba]",
    "test_shard.py::test_stops[rows-0-numbers]",
    "test_shard.py::test_stops[rows, open-None-numbers]",
    "test_compiled.py::test_slide[daba_lite-Kurtosis(bias=False)]",
    "test_compiled.py::test_slide[fiba-Affine()]",
    "test_compiled.py::test_slide[pba-Affine()]",
    "test_answer_types.py::test_in_bulk[Kurtosis(bias=False)]",
)
"""Tests that are left to the full run by their length alone."""

SPARK_DOCS = ("spark", "streams", "tutorial", "pipelines")
WITH_SPARK = ("tests/spark/", "README.md", *(f"docs/{name}.md" for name in SPARK_DOCS))


class SparkInOneProcess(LoadScopeScheduling):
    """What uses Spark runs in one process, where it shares a session, as does what uses Kafka.

    (A mark, xdist_group, would say so too, but from pytest 9.2 on xdist 3.8 does not heed it.)
    """

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith("tests/kafka/"):
            return "kafka"
        return "spark" if nodeid.startswith(WITH_SPARK) else nodeid


@pytest.hookimpl(tryfirst=True)  # before those are left out that are marked
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(each in item.nodeid for each in LONG):
            item.add_marker(pytest.mark.full)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SparkInOneProcess:
    return SparkInOneProcess(config, log)
