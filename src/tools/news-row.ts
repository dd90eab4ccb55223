import { formatId, formatIdOr } from '../model/id.ts'
import { partyNames } from '../store/actor.ts'
import type { ReadTx } from '../store/handle.ts'
import { type News, wordsBehind } from '../store/notification.ts'
import { moment, sparse, start } from './view.ts'

/** Rows of news: what happened, by whom, what was said (as material), and the call that shows the rest. */
export async function newsRows(
  tx: ReadTx,
  news: readonly News[],
  characters: number,
): Promise<Record<string, unknown>[]> {
  const name = await partyNames(tx)
  const words = await wordsBehind(tx, news)
  return news.map((each) => {
    const data = JSON.parse(each.data ?? '{}') as { note?: string; reason?: string }
    const said = words.get(each.object ?? '') ?? data.note ?? data.reason
    return sparse({
      id: formatId('notification', each.id),
      kind: each.kind,
      unread: each.read_at === null,
      at: moment(each.at),
      by: name(each.by),
      task: formatIdOr('task', each.task),
      title: each.title && start(each.title, 60).text,
      object: each.object,
      material: said && start(said, characters).text,
      next: nextCall(each),
    })
  })
}

/** The call that shows what the news is about. */
function nextCall({ kind, object, task }: News): string | undefined {
  if (object?.startsWith('A')) return `get_approval {"id":"${object}"}`
  if (object?.startsWith('Q')) return `get_question {"id":"${object}"}`
  if (kind === 'trashed') return 'list_trash {}'
  return task === null ? undefined : `get_task {"id":"${formatId('task', task)}"}`
}
