"""The screenshots of a notebook in the README: ``python docs/images/notebook.py``.

They show two cells of the page ``notebooks/first_steps`` as a browser displays them, and need the
extras ``docs`` and ``browser``, Chromium, and the pages, built by
``python -m sphinx docs docs/_build``.
"""

from io import BytesIO
from pathlib import Path
from shutil import which

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
PAGE = HERE.parent / "_build" / "notebooks" / "first_steps.html"
CELLS = {"notebook_fit": "verbose=1", "notebook_search": "best_estimator_: Pipeline"}
WIDTH, N_COLORS = 1280, 64

if __name__ == "__main__":
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=which("chromium"), args=["--no-sandbox"]
        )
        for scheme, ending in (("light", ""), ("dark", "_dark")):
            page = browser.new_page(
                viewport={"width": WIDTH, "height": 4000},
                color_scheme=scheme,
                device_scale_factor=1.5,
            )
            page.goto(PAGE.as_uri())
            for name, text in CELLS.items():
                cell = page.locator("div.cell", has_text=text).first
                image = Image.open(BytesIO(cell.screenshot()))
                path = HERE / f"{name}{ending}.png"
                image.convert("RGB").quantize(N_COLORS).save(path, optimize=True)
        browser.close()
