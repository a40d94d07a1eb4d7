"""Where a session is kept: its folder with journal and model, and the labelled table in the form of its suffix."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bayeswise.cli.output.table_form import TableForm
from bayeswise.foundation.errors import UsageError, shortened


@dataclass(frozen=True)
class SessionFiles:
    """The folder of a session, and the table of labelled rows inside it or beside it."""

    folder: Path
    table: Path
    form: TableForm

    @classmethod
    def of(cls, out: str) -> SessionFiles:
        """A folder that holds labelled.csv; the name of a table is a table beside the folder of that name.

        A folder that exists is a folder whatever its name, and so is a name that ends in a slash.

        >>> SessionFiles.of("mail").table.name, SessionFiles.of("mail.jsonl.gz").folder.name
        ('labelled.csv', 'mail')
        """
        path = Path(out)
        if not path.suffix or path.is_dir() or out.endswith("/"):
            return cls(path, path / "labelled.csv", TableForm("csv"))
        form = TableForm.of_suffix(out, otherwise="end the name of a folder in /")
        stem = path.with_suffix("") if form.packing else path
        return cls(stem.with_suffix(""), path, form)

    @property
    def journal(self) -> Path:
        return self.folder / "journal"

    @property
    def model(self) -> Path:
        return self.folder / "model.bayeswise"

    def refuse_foreign(self) -> None:
        """A folder without a journal is not a session, and what has the names of its files is somebody else's."""
        for path in (self.table, self.model):
            if path.exists():
                raise UsageError(
                    f"{shortened(path)} is there already, and there is no journal {_where(path, self.folder)}",
                    fix="name another session, or move the file away",
                )

    def make_folder(self) -> None:
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            problem = f"cannot make the folder {str(self.folder)!r}: {error.strerror}"
            raise UsageError(problem, fix="name another one") from None


def _where(path: Path, folder: Path) -> str:
    return "beside it" if path.parent == folder else f"in {shortened(folder)}"
