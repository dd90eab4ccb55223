import { describe, expect, it } from 'vitest'
import type { AgentActor } from '../model/actor.ts'
import type { EventKind, StoredEvent } from '../model/event.ts'
import { changesFor, DIGEST_URI } from './changes.ts'

const scout: AgentActor = {
  kind: 'agent',
  id: 'G1',
  account: 1,
  name: 'scout',
  owner: 'U1',
  zone: 'UTC',
  scopes: ['read', 'write'],
  credential: 'token:1',
}

const event = (kind: EventKind, more: Partial<StoredEvent> = {}): StoredEvent => ({
  account: 1,
  id: 1,
  at: 0,
  actor: 'G2',
  tool: 'test',
  kind,
  task: 1,
  project: 7,
  object: null,
  ...more,
})

const told = (given: StoredEvent, actor: AgentActor = scout, digest = true) =>
  changesFor(actor, { task: true, digest }, [given]).flatMap((change) =>
    change.kind === 'resource_updated' ? [change.uri] : [],
  )

describe('the digest', () => {
  it.each(['approved', 'rejected', 'commented', 'answered', 'lease_lapsed', 'unblocked', 'trashed'] as const)(
    'is told of as changed by what the caller may get news of: %s',
    (kind) => {
      expect(told(event(kind))).toEqual(['done://task/T1', DIGEST_URI])
      expect(told(event(kind), scout, false)).toEqual(['done://task/T1'])
    },
  )

  it.each([
    'created',
    'updated',
    'labelled',
    'step_added',
    'step_updated',
    'run_event',
    'dependency_added',
  ] as const)('is not told of as changed by other work: %s', (kind) =>
    expect(told(event(kind))).toEqual(['done://task/T1']),
  )

  it('is changed by the caller’s own runs and reading, and by nothing else of its own doing', () => {
    for (const kind of ['run_started', 'run_resumed', 'run_ended', 'blocked', 'closed'] as const)
      expect(told(event(kind, { actor: 'G1' })), kind).toContain(DIGEST_URI)
    for (const kind of ['commented', 'asked', 'rejected', 'comment_updated'] as const)
      expect(told(event(kind, { actor: 'G1' })), kind).not.toContain(DIGEST_URI)
    const read = event('notifications_read', { task: null, project: null })
    expect(told({ ...read, actor: 'G1' })).toEqual([DIGEST_URI])
    expect(told(read)).toEqual([])
  })

  it('is changed by a wish to stop for that agent alone, narrowed or not', () => {
    const stop = event('stop_asked', { task: null, project: null, object: 'G1', actor: 'U1' })
    const narrow = { ...scout, projects: [3] }
    expect(told(stop)).toEqual([DIGEST_URI])
    expect(told(stop, narrow)).toEqual([DIGEST_URI])
    expect(told(stop, { ...scout, id: 'G2' })).toEqual([])
    expect(told(event('commented'), narrow)).toEqual([])
    expect(told(event('commented', { account: 2 }))).toEqual([])
  })
})
