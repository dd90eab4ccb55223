import { AppError, invalid } from './error.ts'
import { LIMITS } from './task.ts'

/** A file as it arrives in a call. */
export interface SentFile {
  name: string
  media_type: string
  base64: string
}

/** A file as it is kept. */
export interface File {
  name: string
  media_type: string
  bytes: Uint8Array
}

/** A link to evidence, as it was sent. Only the web: other schemes open programs or files where a person clicks. */
export function readLink(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (
    url &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.hostname !== '' &&
    url.username === '' &&
    url.password === ''
  )
    return text
  throw invalid(`url: "${text.slice(0, 80)}" is not an address that can be attached.`, {
    allowed: ['https://…', 'http://…'],
    next:
      url?.username || url?.password
        ? 'Leave name and password out of it.'
        : 'Attach anything else as text or file.',
  })
}

/** `type/subtype` of RFC 6838, section 4.2, with parameters of RFC 9110, section 5.6.6. */
const MEDIA_TYPE =
  /^[a-z0-9][a-z0-9!#$&^_.+-]{0,62}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}(?:; ?[a-z0-9-]+=[a-z0-9!#$&^_.+-]+)*$/i

/** Base64 of RFC 4648, section 4, which mail programs break into lines. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Checks and decodes a file. Nothing in it is ever run or shown as a page: it is served as a download. */
export function readFile(file: SentFile): File {
  if (!/^[^/\\\p{Cc}]{1,255}$/u.test(file.name) || /^\.{1,2}$/.test(file.name)) {
    throw invalid(`file.name: ${JSON.stringify(file.name.slice(0, 80))} is not the name of a file.`, {
      next: 'Give a name without a folder, as report.pdf.',
    })
  }
  if (!MEDIA_TYPE.test(file.media_type)) {
    throw invalid(`file.media_type: "${file.media_type.slice(0, 80)}" is not a media type.`, {
      allowed: ['application/pdf', 'image/png', 'text/csv', 'application/octet-stream'],
    })
  }
  const most = Math.ceil(LIMITS.fileBytes / 3) * 4
  // Line breaks are at most two characters in 76.
  if (file.base64.length > most * 1.03) throw tooLarge()
  const text = file.base64.replace(/\s/g, '')
  if (text === '') throw invalid('The file is empty.', { next: 'Attach a text or a link instead.' })
  if (!BASE64.test(text) || text.length % 4 !== 0) {
    throw invalid('file.base64 is not base64.', {
      next: 'Encode the bytes in base64 with padding (RFC 4648, section 4), without a "data:" prefix.',
    })
  }
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length > LIMITS.fileBytes) throw tooLarge()
  return { name: file.name, media_type: file.media_type.toLowerCase(), bytes }
}

function tooLarge(): AppError {
  return new AppError('too_large', `The file is larger than ${LIMITS.fileBytes / 1024 / 1024} MiB.`, {
    next: 'Put it where it belongs and attach a link.',
  })
}
