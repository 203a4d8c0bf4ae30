"""Types of the typed program."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bits:
    width: int
    signed: bool = False

    def __str__(self) -> str:
        return f"{'int' if self.signed else 'bit'}<{self.width}>"


@dataclass(frozen=True, slots=True)
class Bool:
    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True, slots=True)
class Literal:
    """A number whose width is what it meets; `width` is what it needs."""

    def __str__(self) -> str:
        return "a number without a width"


@dataclass(frozen=True, slots=True)
class Composite:
    """A header or struct. Names are unique in a program, so two composites of one name are one."""

    name: str
    header: bool
    fields: tuple[tuple[str, Type], ...]
    intrinsic: bool = False

    def __str__(self) -> str:
        return f"{'header' if self.header else 'struct'} {self.name}"

    def field(self, name: str) -> Type | None:
        return next((t for n, t in self.fields if n == name), None)

    @property
    def width(self) -> int:
        """Bits; a struct of headers has the sum of them."""
        return sum(width(t) for _, t in self.fields)


@dataclass(frozen=True, slots=True)
class Extern:
    """An object of the architecture; args are its type arguments."""

    name: str
    args: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}<{', '.join(map(str, self.args))}>" if self.args else self.name


@dataclass(frozen=True, slots=True)
class List:
    """`{ a, b }`."""

    items: tuple[Type, ...]

    def __str__(self) -> str:
        return f"a list of {len(self.items)} values"


Type = Bits | Bool | Literal | Composite | Extern | List

MOST_BITS = 128  # of a value that is computed with; longer fields are carried along

BOOL = Bool()
LITERAL = Literal()


def width(of: Type) -> int:
    """Bits of a value of this type; 0 where it has none."""
    match of:
        case Bits():
            return of.width
        case Bool():
            return 1
        case Composite():
            return of.width
        case List():
            return sum(width(t) for t in of.items)
        case _:
            return 0


def long_group(of: Composite) -> int | None:
    """The bits of fields that share bytes with each other, if they are more than 128 together; None if none are."""
    at = count = 0
    for _, kind in of.fields:
        at, count = at + width(kind), count + 1
        if at % 8 == 0:
            if count > 1 and at > MOST_BITS:
                return at
            at = count = 0
    return None
