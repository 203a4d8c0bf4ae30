from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AgentConfig(_message.Message):
    __slots__ = ["device", "device_port", "huge_pages", "interface", "listen", "mtu", "numa", "outstanding_reads", "queue_pairs", "region", "server", "switch_ip", "switch_mac", "tls", "user"]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_PORT_FIELD_NUMBER: _ClassVar[int]
    HUGE_PAGES_FIELD_NUMBER: _ClassVar[int]
    INTERFACE_FIELD_NUMBER: _ClassVar[int]
    LISTEN_FIELD_NUMBER: _ClassVar[int]
    MTU_FIELD_NUMBER: _ClassVar[int]
    NUMA_FIELD_NUMBER: _ClassVar[int]
    OUTSTANDING_READS_FIELD_NUMBER: _ClassVar[int]
    QUEUE_PAIRS_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    SWITCH_IP_FIELD_NUMBER: _ClassVar[int]
    SWITCH_MAC_FIELD_NUMBER: _ClassVar[int]
    TLS_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    device: str
    device_port: int
    huge_pages: bool
    interface: str
    listen: str
    mtu: int
    numa: int
    outstanding_reads: int
    queue_pairs: int
    region: int
    server: str
    switch_ip: str
    switch_mac: str
    tls: Tls
    user: str
    def __init__(self, server: _Optional[str] = ..., device: _Optional[str] = ..., interface: _Optional[str] = ..., device_port: _Optional[int] = ..., numa: _Optional[int] = ..., region: _Optional[int] = ..., queue_pairs: _Optional[int] = ..., mtu: _Optional[int] = ..., switch_mac: _Optional[str] = ..., switch_ip: _Optional[str] = ..., outstanding_reads: _Optional[int] = ..., huge_pages: bool = ..., listen: _Optional[str] = ..., tls: _Optional[_Union[Tls, _Mapping]] = ..., user: _Optional[str] = ...) -> None: ...

class AgentHealth(_message.Message):
    __slots__ = ["boot", "certificate", "counters", "link", "queue_pairs", "spare", "trouble"]
    BOOT_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATE_FIELD_NUMBER: _ClassVar[int]
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    QUEUE_PAIRS_FIELD_NUMBER: _ClassVar[int]
    SPARE_FIELD_NUMBER: _ClassVar[int]
    TROUBLE_FIELD_NUMBER: _ClassVar[int]
    boot: int
    certificate: CertificateState
    counters: _containers.RepeatedCompositeFieldContainer[Counter]
    link: bool
    queue_pairs: _containers.RepeatedCompositeFieldContainer[QueuePair]
    spare: int
    trouble: str
    def __init__(self, boot: _Optional[int] = ..., link: bool = ..., trouble: _Optional[str] = ..., queue_pairs: _Optional[_Iterable[_Union[QueuePair, _Mapping]]] = ..., counters: _Optional[_Iterable[_Union[Counter, _Mapping]]] = ..., spare: _Optional[int] = ..., certificate: _Optional[_Union[CertificateState, _Mapping]] = ...) -> None: ...

class Attachment(_message.Message):
    __slots__ = ["interface", "port"]
    INTERFACE_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    interface: str
    port: int
    def __init__(self, port: _Optional[int] = ..., interface: _Optional[str] = ...) -> None: ...

class BackOff(_message.Message):
    __slots__ = ["headroom", "high", "low", "step"]
    HEADROOM_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    headroom: float
    high: float
    low: float
    step: float
    def __init__(self, high: _Optional[float] = ..., low: _Optional[float] = ..., step: _Optional[float] = ..., headroom: _Optional[float] = ...) -> None: ...

class BringUp(_message.Message):
    __slots__ = ["icrc", "interface", "nic_icrc", "port", "probes", "queue_bytes", "rate"]
    ICRC_FIELD_NUMBER: _ClassVar[int]
    INTERFACE_FIELD_NUMBER: _ClassVar[int]
    NIC_ICRC_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    PROBES_FIELD_NUMBER: _ClassVar[int]
    QUEUE_BYTES_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    icrc: str
    interface: str
    nic_icrc: str
    port: int
    probes: _containers.RepeatedCompositeFieldContainer[Probe]
    queue_bytes: int
    rate: int
    def __init__(self, port: _Optional[int] = ..., interface: _Optional[str] = ..., rate: _Optional[int] = ..., queue_bytes: _Optional[int] = ..., icrc: _Optional[str] = ..., nic_icrc: _Optional[str] = ..., probes: _Optional[_Iterable[_Union[Probe, _Mapping]]] = ...) -> None: ...

class Cell(_message.Message):
    __slots__ = ["field", "index", "register", "value"]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    REGISTER_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    field: str
    index: int
    register: str
    value: int
    def __init__(self, register: _Optional[str] = ..., index: _Optional[int] = ..., field: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...

class CertificateState(_message.Message):
    __slots__ = ["ends", "name", "serial", "trouble"]
    ENDS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SERIAL_FIELD_NUMBER: _ClassVar[int]
    TROUBLE_FIELD_NUMBER: _ClassVar[int]
    ends: int
    name: str
    serial: str
    trouble: str
    def __init__(self, name: _Optional[str] = ..., ends: _Optional[int] = ..., serial: _Optional[str] = ..., trouble: _Optional[str] = ...) -> None: ...

class ClearRequest(_message.Message):
    __slots__ = ["boot", "lease"]
    BOOT_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    boot: int
    lease: Lease
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping]] = ..., boot: _Optional[int] = ...) -> None: ...

class CommitRequest(_message.Message):
    __slots__ = ["lease", "version"]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    lease: Lease
    version: str
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping]] = ..., version: _Optional[str] = ...) -> None: ...

class ConfigureRequest(_message.Message):
    __slots__ = ["config", "fallback", "force", "spare", "version"]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    SPARE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    config: bytes
    fallback: int
    force: bool
    spare: _containers.RepeatedCompositeFieldContainer[Spare]
    version: str
    def __init__(self, version: _Optional[str] = ..., config: _Optional[bytes] = ..., fallback: _Optional[int] = ..., force: bool = ..., spare: _Optional[_Iterable[_Union[Spare, _Mapping]]] = ...) -> None: ...

class ControllerConfig(_message.Message):
    __slots__ = ["admin", "back_off", "bring_up", "buckets", "config", "depths", "egress_events", "fallback_burst", "fallback_rate", "fixed_ports", "ingress_events", "listen", "longest_queueing", "metrics", "mirror_sessions", "model", "nf", "nf_hash", "nf_servers", "polling", "program", "program_hash", "queue_cell", "queue_pair_bits", "rdma_servers", "state", "stations", "sweep", "switch", "switch_ip", "switch_mac", "timeout", "tls", "traffic", "verdicts"]
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    BACK_OFF_FIELD_NUMBER: _ClassVar[int]
    BRING_UP_FIELD_NUMBER: _ClassVar[int]
    BUCKETS_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    DEPTHS_FIELD_NUMBER: _ClassVar[int]
    EGRESS_EVENTS_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_BURST_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_RATE_FIELD_NUMBER: _ClassVar[int]
    FIXED_PORTS_FIELD_NUMBER: _ClassVar[int]
    INGRESS_EVENTS_FIELD_NUMBER: _ClassVar[int]
    LISTEN_FIELD_NUMBER: _ClassVar[int]
    LONGEST_QUEUEING_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    MIRROR_SESSIONS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    NF_FIELD_NUMBER: _ClassVar[int]
    NF_HASH_FIELD_NUMBER: _ClassVar[int]
    NF_SERVERS_FIELD_NUMBER: _ClassVar[int]
    POLLING_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_HASH_FIELD_NUMBER: _ClassVar[int]
    QUEUE_CELL_FIELD_NUMBER: _ClassVar[int]
    QUEUE_PAIR_BITS_FIELD_NUMBER: _ClassVar[int]
    RDMA_SERVERS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATIONS_FIELD_NUMBER: _ClassVar[int]
    SWEEP_FIELD_NUMBER: _ClassVar[int]
    SWITCH_FIELD_NUMBER: _ClassVar[int]
    SWITCH_IP_FIELD_NUMBER: _ClassVar[int]
    SWITCH_MAC_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    TLS_FIELD_NUMBER: _ClassVar[int]
    TRAFFIC_FIELD_NUMBER: _ClassVar[int]
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    admin: str
    back_off: BackOff
    bring_up: BringUp
    buckets: int
    config: str
    depths: _containers.RepeatedScalarFieldContainer[int]
    egress_events: _containers.RepeatedScalarFieldContainer[str]
    fallback_burst: int
    fallback_rate: int
    fixed_ports: _containers.RepeatedCompositeFieldContainer[Port]
    ingress_events: _containers.RepeatedScalarFieldContainer[str]
    listen: str
    longest_queueing: int
    metrics: str
    mirror_sessions: int
    model: str
    nf: str
    nf_hash: str
    nf_servers: _containers.RepeatedCompositeFieldContainer[NfServer]
    polling: Polling
    program: str
    program_hash: str
    queue_cell: int
    queue_pair_bits: int
    rdma_servers: _containers.RepeatedCompositeFieldContainer[RdmaServer]
    state: str
    stations: _containers.RepeatedCompositeFieldContainer[Station]
    sweep: int
    switch: str
    switch_ip: str
    switch_mac: str
    timeout: int
    tls: Tls
    traffic: _containers.RepeatedCompositeFieldContainer[Traffic]
    verdicts: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, nf: _Optional[str] = ..., model: _Optional[str] = ..., switch: _Optional[str] = ..., program: _Optional[str] = ..., program_hash: _Optional[str] = ..., nf_hash: _Optional[str] = ..., switch_mac: _Optional[str] = ..., switch_ip: _Optional[str] = ..., traffic: _Optional[_Iterable[_Union[Traffic, _Mapping]]] = ..., nf_servers: _Optional[_Iterable[_Union[NfServer, _Mapping]]] = ..., rdma_servers: _Optional[_Iterable[_Union[RdmaServer, _Mapping]]] = ..., fixed_ports: _Optional[_Iterable[_Union[Port, _Mapping]]] = ..., buckets: _Optional[int] = ..., queue_pair_bits: _Optional[int] = ..., depths: _Optional[_Iterable[int]] = ..., verdicts: _Optional[_Iterable[int]] = ..., ingress_events: _Optional[_Iterable[str]] = ..., egress_events: _Optional[_Iterable[str]] = ..., fallback_rate: _Optional[int] = ..., fallback_burst: _Optional[int] = ..., sweep: _Optional[int] = ..., longest_queueing: _Optional[int] = ..., timeout: _Optional[int] = ..., stations: _Optional[_Iterable[_Union[Station, _Mapping]]] = ..., polling: _Optional[_Union[Polling, _Mapping]] = ..., back_off: _Optional[_Union[BackOff, _Mapping]] = ..., admin: _Optional[str] = ..., listen: _Optional[str] = ..., metrics: _Optional[str] = ..., state: _Optional[str] = ..., config: _Optional[str] = ..., tls: _Optional[_Union[Tls, _Mapping]] = ..., bring_up: _Optional[_Union[BringUp, _Mapping]] = ..., queue_cell: _Optional[int] = ..., mirror_sessions: _Optional[int] = ...) -> None: ...

class ControllerStatus(_message.Message):
    __slots__ = ["active", "certificates", "drops", "epoch", "events", "happened", "links", "nf", "parts", "probes", "queue_pairs", "servers", "uptime", "version"]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATES_FIELD_NUMBER: _ClassVar[int]
    DROPS_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    HAPPENED_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    NF_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    PROBES_FIELD_NUMBER: _ClassVar[int]
    QUEUE_PAIRS_FIELD_NUMBER: _ClassVar[int]
    SERVERS_FIELD_NUMBER: _ClassVar[int]
    UPTIME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    active: str
    certificates: _containers.RepeatedCompositeFieldContainer[CertificateState]
    drops: _containers.RepeatedCompositeFieldContainer[Counter]
    epoch: int
    events: _containers.RepeatedCompositeFieldContainer[Counter]
    happened: _containers.RepeatedCompositeFieldContainer[Happened]
    links: _containers.RepeatedCompositeFieldContainer[LinkLoad]
    nf: str
    parts: _containers.RepeatedCompositeFieldContainer[Part]
    probes: _containers.RepeatedCompositeFieldContainer[ProbeCount]
    queue_pairs: _containers.RepeatedCompositeFieldContainer[QueuePairState]
    servers: _containers.RepeatedCompositeFieldContainer[ServerLoad]
    uptime: int
    version: str
    def __init__(self, nf: _Optional[str] = ..., version: _Optional[str] = ..., epoch: _Optional[int] = ..., uptime: _Optional[int] = ..., active: _Optional[str] = ..., parts: _Optional[_Iterable[_Union[Part, _Mapping]]] = ..., servers: _Optional[_Iterable[_Union[ServerLoad, _Mapping]]] = ..., queue_pairs: _Optional[_Iterable[_Union[QueuePairState, _Mapping]]] = ..., links: _Optional[_Iterable[_Union[LinkLoad, _Mapping]]] = ..., drops: _Optional[_Iterable[_Union[Counter, _Mapping]]] = ..., events: _Optional[_Iterable[_Union[Counter, _Mapping]]] = ..., happened: _Optional[_Iterable[_Union[Happened, _Mapping]]] = ..., probes: _Optional[_Iterable[_Union[ProbeCount, _Mapping]]] = ..., certificates: _Optional[_Iterable[_Union[CertificateState, _Mapping]]] = ...) -> None: ...

class Counter(_message.Message):
    __slots__ = ["name", "value"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: int
    def __init__(self, name: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...

class CounterCell(_message.Message):
    __slots__ = ["bytes", "counter", "index", "packets"]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    COUNTER_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    PACKETS_FIELD_NUMBER: _ClassVar[int]
    bytes: int
    counter: str
    index: int
    packets: int
    def __init__(self, counter: _Optional[str] = ..., index: _Optional[int] = ..., packets: _Optional[int] = ..., bytes: _Optional[int] = ...) -> None: ...

class CounterValues(_message.Message):
    __slots__ = ["bytes", "packets"]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    PACKETS_FIELD_NUMBER: _ClassVar[int]
    bytes: _containers.RepeatedScalarFieldContainer[int]
    packets: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, packets: _Optional[_Iterable[int]] = ..., bytes: _Optional[_Iterable[int]] = ...) -> None: ...

class DescribeRequest(_message.Message):
    __slots__ = ["challenge"]
    CHALLENGE_FIELD_NUMBER: _ClassVar[int]
    challenge: bytes
    def __init__(self, challenge: _Optional[bytes] = ...) -> None: ...

class Entry(_message.Message):
    __slots__ = ["action", "key", "parameters", "table"]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    action: str
    key: _containers.RepeatedScalarFieldContainer[bytes]
    parameters: _containers.RepeatedScalarFieldContainer[bytes]
    table: str
    def __init__(self, table: _Optional[str] = ..., key: _Optional[_Iterable[bytes]] = ..., action: _Optional[str] = ..., parameters: _Optional[_Iterable[bytes]] = ...) -> None: ...

class Generator(_message.Message):
    __slots__ = ["count", "period", "port"]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    PERIOD_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    count: int
    period: int
    port: int
    def __init__(self, port: _Optional[int] = ..., period: _Optional[int] = ..., count: _Optional[int] = ...) -> None: ...

class Group(_message.Message):
    __slots__ = ["group", "ports"]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    PORTS_FIELD_NUMBER: _ClassVar[int]
    group: int
    ports: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, group: _Optional[int] = ..., ports: _Optional[_Iterable[int]] = ...) -> None: ...

class HandOverRequest(_message.Message):
    __slots__ = ["lease"]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    lease: Lease
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping]] = ...) -> None: ...

class Happened(_message.Message):
    __slots__ = ["part", "severity", "text", "time"]
    PART_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    part: str
    severity: str
    text: str
    time: int
    def __init__(self, time: _Optional[int] = ..., severity: _Optional[str] = ..., part: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class Hold(_message.Message):
    __slots__ = ["on", "port"]
    ON_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    on: bool
    port: int
    def __init__(self, port: _Optional[int] = ..., on: bool = ...) -> None: ...

class Lease(_message.Message):
    __slots__ = ["epoch", "number"]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    number: int
    def __init__(self, epoch: _Optional[int] = ..., number: _Optional[int] = ...) -> None: ...

class LinkLoad(_message.Message):
    __slots__ = ["bytes_in", "bytes_out", "dropped", "frames_in", "frames_out", "in_bps", "in_rate", "name", "out_bps", "out_rate", "port", "up"]
    BYTES_IN_FIELD_NUMBER: _ClassVar[int]
    BYTES_OUT_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    FRAMES_IN_FIELD_NUMBER: _ClassVar[int]
    FRAMES_OUT_FIELD_NUMBER: _ClassVar[int]
    IN_BPS_FIELD_NUMBER: _ClassVar[int]
    IN_RATE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OUT_BPS_FIELD_NUMBER: _ClassVar[int]
    OUT_RATE_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    UP_FIELD_NUMBER: _ClassVar[int]
    bytes_in: int
    bytes_out: int
    dropped: int
    frames_in: int
    frames_out: int
    in_bps: float
    in_rate: float
    name: str
    out_bps: float
    out_rate: float
    port: int
    up: bool
    def __init__(self, name: _Optional[str] = ..., port: _Optional[int] = ..., up: bool = ..., frames_in: _Optional[int] = ..., bytes_in: _Optional[int] = ..., frames_out: _Optional[int] = ..., bytes_out: _Optional[int] = ..., dropped: _Optional[int] = ..., in_rate: _Optional[float] = ..., out_rate: _Optional[float] = ..., in_bps: _Optional[float] = ..., out_bps: _Optional[float] = ...) -> None: ...

class Lookup(_message.Message):
    __slots__ = ["found", "key", "operation", "state"]
    FOUND_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    found: str
    key: str
    operation: str
    state: str
    def __init__(self, state: _Optional[str] = ..., operation: _Optional[str] = ..., key: _Optional[str] = ..., found: _Optional[str] = ...) -> None: ...

class Meter(_message.Message):
    __slots__ = ["burst", "index", "name", "rate"]
    BURST_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    burst: int
    index: int
    name: str
    rate: int
    def __init__(self, name: _Optional[str] = ..., index: _Optional[int] = ..., rate: _Optional[int] = ..., burst: _Optional[int] = ...) -> None: ...

class Mirror(_message.Message):
    __slots__ = ["max_length", "port", "session"]
    MAX_LENGTH_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    max_length: int
    port: int
    session: int
    def __init__(self, session: _Optional[int] = ..., port: _Optional[int] = ..., max_length: _Optional[int] = ...) -> None: ...

class NfConfig(_message.Message):
    __slots__ = ["config", "cores", "interface", "listen", "samples", "server", "state", "tls", "user"]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    CORES_FIELD_NUMBER: _ClassVar[int]
    INTERFACE_FIELD_NUMBER: _ClassVar[int]
    LISTEN_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TLS_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    config: str
    cores: _containers.RepeatedScalarFieldContainer[int]
    interface: str
    listen: str
    samples: str
    server: str
    state: str
    tls: Tls
    user: str
    def __init__(self, server: _Optional[str] = ..., interface: _Optional[str] = ..., config: _Optional[str] = ..., state: _Optional[str] = ..., cores: _Optional[_Iterable[int]] = ..., listen: _Optional[str] = ..., tls: _Optional[_Union[Tls, _Mapping]] = ..., user: _Optional[str] = ..., samples: _Optional[str] = ...) -> None: ...

class NfDescription(_message.Message):
    __slots__ = ["boot", "challenge", "mac", "nf", "prepared", "program", "server", "took_over", "version"]
    BOOT_FIELD_NUMBER: _ClassVar[int]
    CHALLENGE_FIELD_NUMBER: _ClassVar[int]
    MAC_FIELD_NUMBER: _ClassVar[int]
    NF_FIELD_NUMBER: _ClassVar[int]
    PREPARED_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    TOOK_OVER_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    boot: int
    challenge: bytes
    mac: bytes
    nf: str
    prepared: str
    program: str
    server: str
    took_over: bool
    version: str
    def __init__(self, challenge: _Optional[bytes] = ..., server: _Optional[str] = ..., nf: _Optional[str] = ..., boot: _Optional[int] = ..., program: _Optional[str] = ..., version: _Optional[str] = ..., prepared: _Optional[str] = ..., mac: _Optional[bytes] = ..., took_over: bool = ...) -> None: ...

class NfName(_message.Message):
    __slots__ = ["name"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class NfServer(_message.Message):
    __slots__ = ["address", "name", "port", "queue_bytes", "rate"]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    QUEUE_BYTES_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    address: str
    name: str
    port: int
    queue_bytes: int
    rate: int
    def __init__(self, name: _Optional[str] = ..., address: _Optional[str] = ..., port: _Optional[int] = ..., rate: _Optional[int] = ..., queue_bytes: _Optional[int] = ...) -> None: ...

class NfStatistics(_message.Message):
    __slots__ = ["boot", "certificate", "counters", "drops", "held", "leaving", "version"]
    BOOT_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATE_FIELD_NUMBER: _ClassVar[int]
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    DROPS_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    LEAVING_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    boot: int
    certificate: CertificateState
    counters: _containers.RepeatedCompositeFieldContainer[Counter]
    drops: _containers.RepeatedCompositeFieldContainer[Counter]
    held: int
    leaving: bool
    version: str
    def __init__(self, boot: _Optional[int] = ..., counters: _Optional[_Iterable[_Union[Counter, _Mapping]]] = ..., drops: _Optional[_Iterable[_Union[Counter, _Mapping]]] = ..., held: _Optional[int] = ..., version: _Optional[str] = ..., certificate: _Optional[_Union[CertificateState, _Mapping]] = ..., leaving: bool = ...) -> None: ...

class Nothing(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class Part(_message.Message):
    __slots__ = ["address", "detail", "name", "role", "since", "state"]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    address: str
    detail: str
    name: str
    role: str
    since: int
    state: str
    def __init__(self, name: _Optional[str] = ..., role: _Optional[str] = ..., state: _Optional[str] = ..., detail: _Optional[str] = ..., since: _Optional[int] = ..., address: _Optional[str] = ...) -> None: ...

class Piece(_message.Message):
    __slots__ = ["bytes", "first", "width"]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    bytes: int
    first: int
    width: int
    def __init__(self, first: _Optional[int] = ..., width: _Optional[int] = ..., bytes: _Optional[int] = ...) -> None: ...

class Polling(_message.Message):
    __slots__ = ["deadline", "health", "load", "misses", "probes", "queue_pairs"]
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    HEALTH_FIELD_NUMBER: _ClassVar[int]
    LOAD_FIELD_NUMBER: _ClassVar[int]
    MISSES_FIELD_NUMBER: _ClassVar[int]
    PROBES_FIELD_NUMBER: _ClassVar[int]
    QUEUE_PAIRS_FIELD_NUMBER: _ClassVar[int]
    deadline: int
    health: int
    load: int
    misses: int
    probes: int
    queue_pairs: int
    def __init__(self, queue_pairs: _Optional[int] = ..., load: _Optional[int] = ..., health: _Optional[int] = ..., deadline: _Optional[int] = ..., misses: _Optional[int] = ..., probes: _Optional[int] = ...) -> None: ...

class Port(_message.Message):
    __slots__ = ["append_icrc", "first_queue_bytes", "index", "loop_time", "loopback", "port", "queue_bytes", "rate", "role"]
    APPEND_ICRC_FIELD_NUMBER: _ClassVar[int]
    FIRST_QUEUE_BYTES_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    LOOPBACK_FIELD_NUMBER: _ClassVar[int]
    LOOP_TIME_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    QUEUE_BYTES_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    append_icrc: bool
    first_queue_bytes: int
    index: int
    loop_time: int
    loopback: bool
    port: int
    queue_bytes: int
    rate: int
    role: int
    def __init__(self, port: _Optional[int] = ..., rate: _Optional[int] = ..., queue_bytes: _Optional[int] = ..., role: _Optional[int] = ..., index: _Optional[int] = ..., append_icrc: bool = ..., loopback: bool = ..., loop_time: _Optional[int] = ..., first_queue_bytes: _Optional[int] = ...) -> None: ...

class PortStatistics(_message.Message):
    __slots__ = ["append_icrc", "bytes_in", "bytes_out", "dropped", "frames_in", "frames_out", "index", "interface", "port", "queues", "rate", "role", "up"]
    APPEND_ICRC_FIELD_NUMBER: _ClassVar[int]
    BYTES_IN_FIELD_NUMBER: _ClassVar[int]
    BYTES_OUT_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    FRAMES_IN_FIELD_NUMBER: _ClassVar[int]
    FRAMES_OUT_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    INTERFACE_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    UP_FIELD_NUMBER: _ClassVar[int]
    append_icrc: bool
    bytes_in: int
    bytes_out: int
    dropped: int
    frames_in: int
    frames_out: int
    index: int
    interface: str
    port: int
    queues: _containers.RepeatedCompositeFieldContainer[QueueSettings]
    rate: int
    role: int
    up: bool
    def __init__(self, port: _Optional[int] = ..., interface: _Optional[str] = ..., up: bool = ..., frames_in: _Optional[int] = ..., bytes_in: _Optional[int] = ..., frames_out: _Optional[int] = ..., bytes_out: _Optional[int] = ..., dropped: _Optional[int] = ..., append_icrc: bool = ..., role: _Optional[int] = ..., index: _Optional[int] = ..., rate: _Optional[int] = ..., queues: _Optional[_Iterable[_Union[QueueSettings, _Mapping]]] = ...) -> None: ...

class PrepareRequest(_message.Message):
    __slots__ = ["config", "force", "lease", "version"]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    config: bytes
    force: bool
    lease: Lease
    version: str
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping]] = ..., version: _Optional[str] = ..., config: _Optional[bytes] = ..., force: bool = ...) -> None: ...

class Probe(_message.Message):
    __slots__ = ["edits", "fields", "headers", "length", "number", "sums", "way"]
    EDITS_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SUMS_FIELD_NUMBER: _ClassVar[int]
    WAY_FIELD_NUMBER: _ClassVar[int]
    edits: _containers.RepeatedCompositeFieldContainer[Piece]
    fields: _containers.RepeatedCompositeFieldContainer[Piece]
    headers: bytes
    length: int
    number: int
    sums: _containers.RepeatedCompositeFieldContainer[Piece]
    way: int
    def __init__(self, way: _Optional[int] = ..., headers: _Optional[bytes] = ..., length: _Optional[int] = ..., number: _Optional[int] = ..., fields: _Optional[_Iterable[_Union[Piece, _Mapping]]] = ..., edits: _Optional[_Iterable[_Union[Piece, _Mapping]]] = ..., sums: _Optional[_Iterable[_Union[Piece, _Mapping]]] = ...) -> None: ...

class ProbeCount(_message.Message):
    __slots__ = ["back", "nf", "queue_pair", "sent", "took"]
    BACK_FIELD_NUMBER: _ClassVar[int]
    NF_FIELD_NUMBER: _ClassVar[int]
    QUEUE_PAIR_FIELD_NUMBER: _ClassVar[int]
    SENT_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    back: int
    nf: str
    queue_pair: int
    sent: int
    took: int
    def __init__(self, nf: _Optional[str] = ..., queue_pair: _Optional[int] = ..., sent: _Optional[int] = ..., back: _Optional[int] = ..., took: _Optional[int] = ...) -> None: ...

class QueuePair(_message.Message):
    __slots__ = ["number", "pair", "peer", "psn", "ready"]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    PAIR_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    PSN_FIELD_NUMBER: _ClassVar[int]
    READY_FIELD_NUMBER: _ClassVar[int]
    number: int
    pair: int
    peer: int
    psn: int
    ready: bool
    def __init__(self, pair: _Optional[int] = ..., number: _Optional[int] = ..., psn: _Optional[int] = ..., peer: _Optional[int] = ..., ready: bool = ...) -> None: ...

class QueuePairState(_message.Message):
    __slots__ = ["index", "number", "reason", "restores", "server", "state"]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RESTORES_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    index: int
    number: int
    reason: str
    restores: int
    server: str
    state: str
    def __init__(self, index: _Optional[int] = ..., server: _Optional[str] = ..., number: _Optional[int] = ..., state: _Optional[str] = ..., restores: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class QueueSettings(_message.Message):
    __slots__ = ["limit", "priority", "queue"]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    limit: int
    priority: int
    queue: int
    def __init__(self, queue: _Optional[int] = ..., limit: _Optional[int] = ..., priority: _Optional[int] = ...) -> None: ...

class RdmaServer(_message.Message):
    __slots__ = ["address", "first_queue_bytes", "mtu", "name", "port", "queue_bytes", "queue_pairs", "rate", "region", "spare"]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    FIRST_QUEUE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MTU_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    QUEUE_BYTES_FIELD_NUMBER: _ClassVar[int]
    QUEUE_PAIRS_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    SPARE_FIELD_NUMBER: _ClassVar[int]
    address: str
    first_queue_bytes: int
    mtu: int
    name: str
    port: int
    queue_bytes: int
    queue_pairs: int
    rate: int
    region: int
    spare: int
    def __init__(self, name: _Optional[str] = ..., address: _Optional[str] = ..., port: _Optional[int] = ..., rate: _Optional[int] = ..., spare: _Optional[int] = ..., queue_pairs: _Optional[int] = ..., region: _Optional[int] = ..., mtu: _Optional[int] = ..., queue_bytes: _Optional[int] = ..., first_queue_bytes: _Optional[int] = ...) -> None: ...

class ReadRequest(_message.Message):
    __slots__ = ["counter_counts", "counters", "counts", "registers"]
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    COUNTER_COUNTS_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    REGISTERS_FIELD_NUMBER: _ClassVar[int]
    counter_counts: _containers.RepeatedScalarFieldContainer[int]
    counters: _containers.RepeatedCompositeFieldContainer[CounterCell]
    counts: _containers.RepeatedScalarFieldContainer[int]
    registers: _containers.RepeatedCompositeFieldContainer[Cell]
    def __init__(self, registers: _Optional[_Iterable[_Union[Cell, _Mapping]]] = ..., counts: _Optional[_Iterable[int]] = ..., counters: _Optional[_Iterable[_Union[CounterCell, _Mapping]]] = ..., counter_counts: _Optional[_Iterable[int]] = ...) -> None: ...

class ReadResponse(_message.Message):
    __slots__ = ["counters", "registers"]
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    REGISTERS_FIELD_NUMBER: _ClassVar[int]
    counters: _containers.RepeatedCompositeFieldContainer[CounterValues]
    registers: _containers.RepeatedCompositeFieldContainer[Values]
    def __init__(self, registers: _Optional[_Iterable[_Union[Values, _Mapping]]] = ..., counters: _Optional[_Iterable[_Union[CounterValues, _Mapping]]] = ...) -> None: ...

class Registration(_message.Message):
    __slots__ = ["boot", "challenge", "device", "ip", "mac", "mtu", "queue_pairs", "region", "rkey", "server"]
    BOOT_FIELD_NUMBER: _ClassVar[int]
    CHALLENGE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    IP_FIELD_NUMBER: _ClassVar[int]
    MAC_FIELD_NUMBER: _ClassVar[int]
    MTU_FIELD_NUMBER: _ClassVar[int]
    QUEUE_PAIRS_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    RKEY_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    boot: int
    challenge: bytes
    device: str
    ip: bytes
    mac: bytes
    mtu: int
    queue_pairs: _containers.RepeatedCompositeFieldContainer[QueuePair]
    region: int
    rkey: int
    server: str
    def __init__(self, challenge: _Optional[bytes] = ..., server: _Optional[str] = ..., boot: _Optional[int] = ..., mac: _Optional[bytes] = ..., ip: _Optional[bytes] = ..., rkey: _Optional[int] = ..., region: _Optional[int] = ..., mtu: _Optional[int] = ..., queue_pairs: _Optional[_Iterable[_Union[QueuePair, _Mapping]]] = ..., device: _Optional[str] = ...) -> None: ...

class ResetRequest(_message.Message):
    __slots__ = ["boot", "lease", "pair", "peer"]
    BOOT_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    PAIR_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    boot: int
    lease: Lease
    pair: int
    peer: int
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping]] = ..., boot: _Optional[int] = ..., pair: _Optional[int] = ..., peer: _Optional[int] = ...) -> None: ...

class Sample(_message.Message):
    __slots__ = ["packet", "port"]
    PACKET_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    packet: bytes
    port: int
    def __init__(self, port: _Optional[int] = ..., packet: _Optional[bytes] = ...) -> None: ...

class Samples(_message.Message):
    __slots__ = ["samples"]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    samples: _containers.RepeatedCompositeFieldContainer[Sample]
    def __init__(self, samples: _Optional[_Iterable[_Union[Sample, _Mapping]]] = ...) -> None: ...

class ServerLoad(_message.Message):
    __slots__ = ["allowed", "buckets", "name", "own", "own_buckets", "payload"]
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    BUCKETS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OWN_BUCKETS_FIELD_NUMBER: _ClassVar[int]
    OWN_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    allowed: int
    buckets: int
    name: str
    own: int
    own_buckets: int
    payload: int
    def __init__(self, name: _Optional[str] = ..., buckets: _Optional[int] = ..., own_buckets: _Optional[int] = ..., payload: _Optional[int] = ..., own: _Optional[int] = ..., allowed: _Optional[int] = ...) -> None: ...

class Spare(_message.Message):
    __slots__ = ["rate", "server"]
    RATE_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    rate: int
    server: str
    def __init__(self, server: _Optional[str] = ..., rate: _Optional[int] = ...) -> None: ...

class Station(_message.Message):
    __slots__ = ["mac", "port"]
    MAC_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    mac: str
    port: int
    def __init__(self, mac: _Optional[str] = ..., port: _Optional[int] = ...) -> None: ...

class SwitchConfig(_message.Message):
    __slots__ = ["listen", "ports", "slower", "tls", "user"]
    LISTEN_FIELD_NUMBER: _ClassVar[int]
    PORTS_FIELD_NUMBER: _ClassVar[int]
    SLOWER_FIELD_NUMBER: _ClassVar[int]
    TLS_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    listen: str
    ports: _containers.RepeatedCompositeFieldContainer[Attachment]
    slower: int
    tls: Tls
    user: str
    def __init__(self, ports: _Optional[_Iterable[_Union[Attachment, _Mapping]]] = ..., listen: _Optional[str] = ..., tls: _Optional[_Union[Tls, _Mapping]] = ..., user: _Optional[str] = ..., slower: _Optional[int] = ...) -> None: ...

class SwitchDescription(_message.Message):
    __slots__ = ["boot", "challenge", "model", "program"]
    BOOT_FIELD_NUMBER: _ClassVar[int]
    CHALLENGE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    boot: int
    challenge: bytes
    model: str
    program: str
    def __init__(self, challenge: _Optional[bytes] = ..., boot: _Optional[int] = ..., program: _Optional[str] = ..., model: _Optional[str] = ...) -> None: ...

class SwitchStatistics(_message.Message):
    __slots__ = ["boot", "cell", "certificate", "drops", "ports", "time"]
    BOOT_FIELD_NUMBER: _ClassVar[int]
    CELL_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATE_FIELD_NUMBER: _ClassVar[int]
    DROPS_FIELD_NUMBER: _ClassVar[int]
    PORTS_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    boot: int
    cell: int
    certificate: CertificateState
    drops: _containers.RepeatedCompositeFieldContainer[Counter]
    ports: _containers.RepeatedCompositeFieldContainer[PortStatistics]
    time: int
    def __init__(self, boot: _Optional[int] = ..., ports: _Optional[_Iterable[_Union[PortStatistics, _Mapping]]] = ..., drops: _Optional[_Iterable[_Union[Counter, _Mapping]]] = ..., time: _Optional[int] = ..., cell: _Optional[int] = ..., certificate: _Optional[_Union[CertificateState, _Mapping]] = ...) -> None: ...

class Tls(_message.Message):
    __slots__ = ["authority", "certificate", "key", "revoked"]
    AUTHORITY_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    REVOKED_FIELD_NUMBER: _ClassVar[int]
    authority: str
    certificate: str
    key: str
    revoked: str
    def __init__(self, authority: _Optional[str] = ..., certificate: _Optional[str] = ..., key: _Optional[str] = ..., revoked: _Optional[str] = ...) -> None: ...

class Traffic(_message.Message):
    __slots__ = ["name", "ports", "queue_bytes", "rate"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PORTS_FIELD_NUMBER: _ClassVar[int]
    QUEUE_BYTES_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    name: str
    ports: _containers.RepeatedScalarFieldContainer[int]
    queue_bytes: int
    rate: int
    def __init__(self, name: _Optional[str] = ..., ports: _Optional[_Iterable[int]] = ..., rate: _Optional[int] = ..., queue_bytes: _Optional[int] = ...) -> None: ...

class TryRequest(_message.Message):
    __slots__ = ["packet", "port"]
    PACKET_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    packet: bytes
    port: int
    def __init__(self, port: _Optional[int] = ..., packet: _Optional[bytes] = ...) -> None: ...

class TryResponse(_message.Message):
    __slots__ = ["delay", "lookups", "packet", "ports", "reason", "sent", "version"]
    DELAY_FIELD_NUMBER: _ClassVar[int]
    LOOKUPS_FIELD_NUMBER: _ClassVar[int]
    PACKET_FIELD_NUMBER: _ClassVar[int]
    PORTS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SENT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    delay: int
    lookups: _containers.RepeatedCompositeFieldContainer[Lookup]
    packet: bytes
    ports: _containers.RepeatedScalarFieldContainer[int]
    reason: str
    sent: bool
    version: str
    def __init__(self, sent: bool = ..., ports: _Optional[_Iterable[int]] = ..., packet: _Optional[bytes] = ..., reason: _Optional[str] = ..., version: _Optional[str] = ..., lookups: _Optional[_Iterable[_Union[Lookup, _Mapping]]] = ..., delay: _Optional[int] = ...) -> None: ...

class Update(_message.Message):
    __slots__ = ["add", "clear", "generator", "group", "hold", "meter", "mirror", "modify", "port", "put", "register", "remove"]
    ADD_FIELD_NUMBER: _ClassVar[int]
    CLEAR_FIELD_NUMBER: _ClassVar[int]
    GENERATOR_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    HOLD_FIELD_NUMBER: _ClassVar[int]
    METER_FIELD_NUMBER: _ClassVar[int]
    MIRROR_FIELD_NUMBER: _ClassVar[int]
    MODIFY_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    PUT_FIELD_NUMBER: _ClassVar[int]
    REGISTER_FIELD_NUMBER: _ClassVar[int]
    REMOVE_FIELD_NUMBER: _ClassVar[int]
    add: Entry
    clear: str
    generator: Generator
    group: Group
    hold: Hold
    meter: Meter
    mirror: Mirror
    modify: Entry
    port: Port
    put: Entry
    register: Cell
    remove: Entry
    def __init__(self, add: _Optional[_Union[Entry, _Mapping]] = ..., modify: _Optional[_Union[Entry, _Mapping]] = ..., put: _Optional[_Union[Entry, _Mapping]] = ..., remove: _Optional[_Union[Entry, _Mapping]] = ..., register: _Optional[_Union[Cell, _Mapping]] = ..., meter: _Optional[_Union[Meter, _Mapping]] = ..., mirror: _Optional[_Union[Mirror, _Mapping]] = ..., group: _Optional[_Union[Group, _Mapping]] = ..., port: _Optional[_Union[Port, _Mapping]] = ..., generator: _Optional[_Union[Generator, _Mapping]] = ..., clear: _Optional[str] = ..., hold: _Optional[_Union[Hold, _Mapping]] = ...) -> None: ...

class Values(_message.Message):
    __slots__ = ["values"]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, values: _Optional[_Iterable[int]] = ...) -> None: ...

class WriteRequest(_message.Message):
    __slots__ = ["boot", "lease", "updates"]
    BOOT_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    UPDATES_FIELD_NUMBER: _ClassVar[int]
    boot: int
    lease: Lease
    updates: _containers.RepeatedCompositeFieldContainer[Update]
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping]] = ..., boot: _Optional[int] = ..., updates: _Optional[_Iterable[_Union[Update, _Mapping]]] = ...) -> None: ...
