"""Checks on a real local Ray, run by test_clusters: Ray changes joblib for its whole process."""

import sys
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
import ray
from joblib import parallel_config
from ray.util.joblib import register_ray
from test_clusters import answers, big, check_answers, check_survives, halving


def check_data_are_put_once(on_ray):
    data, put = big(10_000), []

    def counting(thing, put_it=ray.put):
        put.append(thing)
        return put_it(thing)

    with patch.object(ray, "put", counting), parallel_config(**on_ray):
        search = halving(16).fit(*data)
    assert len(search.n_candidates_) > 2
    sizes = [thing.nbytes for thing in put if isinstance(thing, np.ndarray)]
    assert sizes.count(data[0].nbytes) == 1
    assert sum(sizes) == sum(part.nbytes for part in data)


def main(folder):
    here = str(Path(__file__).parent)
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": here}},
        # Its workers yield to all else that runs, and beside other tests hardly get on.
        _system_config={"worker_niceness": 0},
    )  # fmt: skip
    register_ray()
    on_ray = {"backend": "ray", "n_jobs": 2}
    check_answers(answers(), folder, **on_ray)
    print("the same answers")
    check_data_are_put_once(on_ray)
    print("the data are put into the object store once")
    for how in ("kill", "hang"):
        check_survives(how, **on_ray)
        print(f"survived {how}")
    ray.shutdown()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))
