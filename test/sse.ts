/** Reads server-sent events (HTML, 9.2) as they come, in pieces that may end anywhere. */
export function createParser(heard: (event: { id: string | undefined; data: string }) => void) {
  let text = ''
  return (piece: string): void => {
    text += piece
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      const value = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
      const data = value('data')
      if (data !== undefined) heard({ id: value('id'), data })
    }
  }
}
