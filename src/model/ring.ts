/**
 * Rings in a graph of "can't close before": each as the nodes on it in order, its first again at the end. Not all rings of
 * a tangle, but at least one of each, which is enough to know where to cut.
 */
export function ringsIn(edges: readonly { from: number; to: number }[]): number[][] {
  const targets = new Map<number, number[]>()
  for (const { from, to } of edges) targets.set(from, [...(targets.get(from) ?? []), to])
  const rings: number[][] = []
  const finished = new Set<number>()
  const path: number[] = []
  const onPath = new Set<number>()

  // By hand instead of by recursion: a chain can be longer than the stack is deep.
  for (const start of targets.keys()) {
    if (finished.has(start)) continue
    const open: { node: number; left: number[] }[] = []
    const enter = (node: number) => {
      open.push({ node, left: [...(targets.get(node) ?? [])] })
      path.push(node)
      onPath.add(node)
    }
    enter(start)
    while (open.length > 0) {
      const { node, left } = open.at(-1)!
      const next = left.shift()
      if (next === undefined) {
        open.pop()
        path.pop()
        onPath.delete(node)
        finished.add(node)
      } else if (onPath.has(next)) rings.push([...path.slice(path.indexOf(next)), next])
      else if (!finished.has(next)) enter(next)
    }
  }
  return rings
}
