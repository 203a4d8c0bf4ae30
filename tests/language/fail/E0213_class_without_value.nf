header tag { kind: u16; }

parser frame {
  state start { extract tag; }
  class kind: u16 = if tag { tag.kind } else { 0 };
}

nf wire {
  port lan, wan;
  on packet { send wan; }
}
