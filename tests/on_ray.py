"""Checks on a real local Ray, run by test_clusters: Ray changes joblib for its whole process."""

import sys
import warnings
from pathlib import Path

import ray
from joblib import parallel_config
from ray.util.joblib import register_ray
from test_clusters import answers, check_answers
from test_workers import fitted, one_that_fails, scores, search_of


def main(folder):
    here = str(Path(__file__).parent)
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": here}},
    )  # fmt: skip
    register_ray()
    on_ray = {"backend": "ray", "n_jobs": 2}
    check_answers(answers(), folder, **on_ray)
    print("the same answers")
    expected = scores(one_that_fails())
    for how, timeout, says in [("kill", None, "died"), ("hang", 3, "Took more than fit_timeout=3")]:
        search = search_of(how, n_jobs=None, fit_timeout=timeout)
        with parallel_config(**on_ray):
            fitted(search, says, "1 candidates failed")
        assert scores(search) == expected
        print(f"survived {how}")
    ray.shutdown()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))
