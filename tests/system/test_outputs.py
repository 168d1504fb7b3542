"""Outputs that cannot be written, or that would destroy an input, are refused before any work."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import OutputError
from gonie.system.outputs import check_output_files, check_output_folder


def test_output_files_are_checked_before_any_work(tmp_path: Path) -> None:
    check_output_files(None, tmp_path / "new.html", Path("/dev/null"))
    check_output_files(tmp_path, folders=True)
    assert list(tmp_path.iterdir()) == []
    for file, told in ((tmp_path, "is a folder"), (tmp_path / "no" / "x", "does not exist")):
        with pytest.raises(OutputError, match=told):
            check_output_files(None, file)


def test_output_folders_are_checked_before_any_work(tmp_path: Path) -> None:
    check_output_folder(None)
    check_output_folder(tmp_path / "new" / "deep")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("x", "utf-8")
    for folder, told in ((tmp_path / "file", "is a file"), (Path("/proc/gonie"), "cannot write /proc/gonie")):
        with pytest.raises(OutputError, match=told):
            check_output_folder(folder)


def test_an_output_that_is_an_input_is_refused(tmp_path: Path) -> None:
    folder, file = tmp_path / "brat", tmp_path / "brat" / "a.ann"
    folder.mkdir()
    file.write_text("x", "utf-8")
    for inputs in ([None, file], [folder]):
        with pytest.raises(OutputError, match=f"^cannot write {file}: it is an input file"):
            check_output_files(file, inputs=inputs)
    with pytest.raises(OutputError, match="is an input file"):
        check_output_files(folder, inputs=[folder], folders=True)


def test_a_new_file_beside_its_input_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.ann").write_text("x", "utf-8")
    check_output_files(tmp_path / "report.html", inputs=[tmp_path, tmp_path / "a.ann", Path("missing")])
    check_output_files(Path("/dev/null"), inputs=[Path("/dev/null")])
