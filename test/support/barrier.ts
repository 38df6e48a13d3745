/** Nobody passes before `parties` have come: a race by construction, not by luck. */
export function barrier(parties: number): () => Promise<void> {
  let waiting = 0;
  let open: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return () => {
    waiting += 1;
    if (waiting === parties) open();
    return opened;
  };
}
