import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { lineWriter, readLines } from './lines.ts'

/** What a reader makes of these pieces of bytes. */
async function read(pieces: readonly (string | Buffer)[], most = 100): Promise<string[]> {
  const input = new PassThrough()
  const heard: string[] = []
  const over = new Promise<void>((resolve) => {
    readLines(input, most, {
      line: (text) => heard.push(text),
      tooLong() {
        heard.push('too long')
        resolve()
      },
      ended() {
        heard.push('ended')
        resolve()
      },
    })
  })
  for (const piece of pieces) input.write(piece)
  input.end()
  await over
  await new Promise(setImmediate)
  return heard
}

it('makes lines of whatever pieces they come in', async () => {
  expect(await read(['one\ntwo\r\n', 'th', 'ree', '\n\nnot whole'])).toEqual([
    'one',
    'two',
    'three',
    '',
    'ended',
  ])
  const bytes = Buffer.from('“¿qué?” 🙂\n')
  expect(await read([...bytes].map((byte) => Buffer.of(byte)))).toEqual(['“¿qué?” 🙂', 'ended'])
})

it('bounds a line, in one piece and in many, and reads no further', async () => {
  const most = 'x'.repeat(10)
  expect(await read([`${most}\n${most}\n`], 10)).toEqual([most, most, 'ended'])
  expect(await read([`a\n${most}x\nb\n`], 10)).toEqual(['a', 'too long'])
  expect(await read(['a\n', most, 'x', 'more\n'], 10)).toEqual(['a', 'too long'])
})

it('writes the lines of one turn together, and says when there is room for more', async () => {
  const output = new PassThrough({ highWaterMark: 20 })
  const writer = lineWriter(output, () => {})
  writer.line('one')
  expect(output.read()).toBeNull()
  const room = writer.line('a line that is longer than the pipe')
  await new Promise(setImmediate)
  let free = false
  void Promise.resolve(room).then(() => {
    free = true
  })
  await new Promise(setImmediate)
  expect(free).toBe(false)
  expect(String(output.read())).toBe('one\na line that is longer than the pipe\n')
  await room
  expect(free).toBe(true)
})

it('says when nothing can be written any more', async () => {
  const output = new PassThrough()
  const failed = new Promise<void>((resolve) => lineWriter(output, resolve))
  const { error } = console
  console.error = () => {}
  output.destroy(new Error('EPIPE'))
  await failed
  console.error = error
})
