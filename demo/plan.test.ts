import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { AppError } from '../src/model/error.ts'
import { readPlan } from './plan.ts'

const library: unknown = JSON.parse(readFileSync(new URL('./plan.json', import.meta.url), 'utf8'))

const task = (id: number | string, more: object = {}) => ({ id, title: `Task ${id}`, ...more })
const refs = (json: unknown) => readPlan(json).map(({ ref }) => ref)

function refusal(json: unknown): AppError {
  try {
    readPlan(json)
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    expect((error as AppError).code).toBe('invalid_value')
    return error as AppError
  }
  return expect.fail('the plan should be refused')
}

describe('the plan of the library', () => {
  const plan = readPlan(library)

  it('is read whole, each task after all that it depends on', () => {
    expect(plan.length).toBeGreaterThanOrEqual(40)
    const seen = new Set<string>()
    for (const { ref, depends_on } of plan) {
      for (const before of depends_on) expect(seen).toContain(before)
      seen.add(ref)
    }
    expect(seen.size).toBe(plan.length)
  })

  it('has several roots, all priorities, and tasks with two to four steps', () => {
    expect(plan.filter(({ depends_on }) => depends_on.length === 0).length).toBeGreaterThan(1)
    expect(new Set(plan.map(({ priority }) => priority))).toEqual(new Set(['high', 'normal', 'low']))
    const planned = plan.filter(({ steps }) => steps.length > 0)
    expect(planned.length).toBeGreaterThanOrEqual(8)
    for (const { steps } of planned) {
      expect(steps.length).toBeGreaterThanOrEqual(2)
      expect(steps.length).toBeLessThanOrEqual(4)
    }
  })

  it('has diamonds: two ways that part and meet again', () => {
    const after = new Map(plan.map(({ ref, depends_on }) => [ref, depends_on]))
    const roots = (ref: string): string[] => [ref, ...(after.get(ref) ?? []).flatMap(roots)]
    const diamonds = plan.filter(({ depends_on }) => {
      const ways = depends_on.map((before) => new Set(roots(before)))
      return ways.some((way, n) => ways.slice(n + 1).some((other) => [...way].some((ref) => other.has(ref))))
    })
    expect(diamonds.length).toBeGreaterThanOrEqual(3)
  })
})

describe('reading a plan', () => {
  it('takes a task over with its description, details and test strategy as Markdown', () => {
    const one = task(7, {
      title: ' Move the loans ',
      description: 'All of them.',
      details: 'On the day of the switch.',
      testStrategy: 'Compare the overdue lists.',
      priority: 'medium',
      subtasks: [task(1, { title: 'Rehearse', description: 'twice' }), task(2, { title: 'Do it' })],
    })
    expect(readPlan({ master: { tasks: [one] } })).toEqual([
      {
        ref: 'plan-7',
        title: 'Move the loans',
        description:
          'All of them.\n\n## Details\n\nOn the day of the switch.\n\n## How it is tested\n\nCompare the overdue lists.',
        priority: 'normal',
        depends_on: [],
        steps: ['Rehearse: twice', 'Do it'],
      },
    ])
  })

  it('reads the older form, and ids that are written as strings', () => {
    const tasks = [task('2', { dependencies: [1] }), task(1)]
    expect(refs({ tasks })).toEqual(['plan-1', 'plan-2'])
    expect(refs({ main: { tasks } })).toEqual(['plan-1', 'plan-2'])
  })

  it('prefers master among several tags, and asks where there is none', () => {
    expect(refs({ next: { tasks: [task(5)] }, master: { tasks: [task(1)] } })).toEqual(['plan-1'])
    const error = refusal({ next: { tasks: [] }, later: { tasks: [] } })
    expect(error.details.allowed).toEqual(['next', 'later'])
  })

  it('keeps the order of the file where nothing else is asked', () => {
    expect(refs({ tasks: [task(3), task(1, { dependencies: [2] }), task(4), task(2)] })).toEqual([
      'plan-3',
      'plan-2',
      'plan-1',
      'plan-4',
    ])
  })

  it('puts steps in the order of their own dependencies, by either way of naming them', () => {
    const subtasks = [
      task(1, { title: 'paint', dependencies: ['9.2'] }),
      task(2, { title: 'sand', dependencies: [3] }),
      task(3, { title: 'buy' }),
    ]
    expect(readPlan({ tasks: [task(9, { subtasks })] })[0]?.steps).toEqual(['buy', 'sand', 'paint'])
  })

  it('cuts a step that is longer than a step can be', () => {
    const subtasks = [task(1, { title: 'read', description: 'x'.repeat(600) })]
    const [step = ''] = readPlan({ tasks: [task(1, { subtasks })] })[0]?.steps ?? []
    expect(step).toHaveLength(500)
    expect(step.endsWith('…')).toBe(true)
  })
})

describe('a plan that can not be read', () => {
  it('names the place of each fault', () => {
    const { message } = refusal({ master: { tasks: [task(1), { id: 2, title: '', priority: 'urgent' }] } })
    expect(message).toContain('master.tasks[1].title: should not be empty')
    expect(message).toContain('master.tasks[1].priority')
    expect(refusal({ tasks: [task(-1)] }).message).toContain('tasks[0].id: should be a number such as 7')
  })

  it('says what a plan is when it gets something else', () => {
    for (const json of [null, 'tasks', [], 7]) expect(refusal(json).message).toContain('A plan is an object')
    expect(refusal({}).message).toContain('tasks')
    expect(refusal({ master: { tasks: 'none' } }).message).toContain('master.tasks')
  })

  it('shows a circle with its path', () => {
    const tasks = [
      task(1, { dependencies: [2] }),
      task(2, { dependencies: [3] }),
      task(3, { dependencies: [2] }),
    ]
    expect(refusal({ tasks }).message).toContain('2 -> 3 -> 2')
    expect(refusal({ tasks: [task(4, { dependencies: [4] })] }).message).toContain('4 -> 4')
    const subtasks = [task(1, { dependencies: [2] }), task(2, { dependencies: [1] })]
    expect(refusal({ tasks: [task(8, { subtasks })] }).message).toContain(
      'task 8: subtask 1 waits for itself',
    )
  })

  it('names the task that depends on one that is not there', () => {
    const error = refusal({ tasks: [task(1), task(2, { dependencies: [1, 12] })] })
    expect(error.message).toContain('task 2 ("Task 2") depends on 12, which is not there')
    expect(error.details.allowed).toEqual(['1', '2'])
  })

  it('refuses an id that is there twice', () => {
    expect(refusal({ tasks: [task(1), task('1')] }).message).toContain('two of them have the id 1')
  })
})
