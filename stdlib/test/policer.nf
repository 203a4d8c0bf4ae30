/// A policer: what is above the rate is dropped at once, never delayed. What passes may be marked, by its DSCP.
/// That the traffic of a subscriber is limited together, as IP packets, is usual: `per_source`, `layer3`.
///
/// It cannot know what is marked how.
block policer {
  /// Where the traffic comes from that is policed.
  port inside;
  param rate:       bitrate;
  param burst:      bytes;
  param per_source: bool = true;
  param layer3:     bool = true;

  use test.limiter as limit { per_source: per_source, layer3: layer3 };
  use test.marker;
}
