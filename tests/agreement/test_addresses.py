import pytest

from mixbayes.agreement.addresses import dialled, host_and_port


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("127.0.0.1:1", ("127.0.0.1", 1)),
        ("Mixer-A.example.org:65535", ("mixer-a.example.org", 65535)),
        ("mixer_a:8443", ("mixer_a", 8443)),
        ("[2001:DB8:0::7]:8443", ("2001:db8::7", 8443)),
    ],
)
def test_an_address_has_a_host_and_a_port(address: str, parts: tuple[str, int]) -> None:
    assert host_and_port(address) == parts
    assert dialled(address) == address


@pytest.mark.parametrize(
    "address",
    [
        "",
        "host",
        "host:",
        ":1",
        "host:0",
        "host:01",
        "host:65536",
        "host:+1",
        "host:1\n",
        "::1:80",
        "[::1]",
        "[::1:80",
        "[1.2.3.4]:5",
        "[fe80::1%eth0]:1",
        "300.1.1.1:1",
        "1.2:1",
        "ho st:1",
        "-h:1",
        "a..b:1",
        "https://h:1",
        "x" * 64 + ":1",
        ".".join(["x" * 60] * 5) + ":1",
    ],
)
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(ValueError, match=r"is not|has port|names a network card"):
        host_and_port(address)


@pytest.mark.parametrize("address", ["0.0.0.0:80", "[::]:80", "[0:0::0]:80"])
def test_nobody_can_dial_an_address_to_listen_on(address: str) -> None:
    with pytest.raises(ValueError, match="says where to listen"):
        dialled(address)
