nf wire {
  port lan, wan;
  on packet { send wan; }
}
