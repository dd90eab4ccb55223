import type { PersonActor } from '../model/actor.ts'
import { parseId } from '../model/id.ts'
import { fileById } from '../store/file.ts'
import type { Store } from '../store/store.ts'

/** A file or text of an artifact, whole, for a person's page. */
export interface Download {
  name: string
  mediaType: string | null
  bytes: Uint8Array
}

/** Reads the bytes of an artifact by its public id. */
export async function downloadOf(store: Store, person: PersonActor, id: string): Promise<Download> {
  const { number } = parseId(id, 'artifact')
  const { artifact, bytes } = await store.read(person, 'get_file', (tx) => fileById(tx, number))
  const name = artifact.file_name ?? `${artifact.title}.txt`
  return { name, mediaType: artifact.text === null ? artifact.media_type : 'text/plain', bytes }
}
