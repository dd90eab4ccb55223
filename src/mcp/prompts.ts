import {
  type GetPromptResult,
  type ListPromptsResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'

interface PromptOf {
  title: string
  description: string
  arguments: readonly { name: string; description: string; required: boolean }[]
  /** The tools that its text names; it is listed only where all of them are. */
  needs: readonly string[]
  text: (args: Record<string, string>) => string
}

const task = { name: 'task', description: 'The task, by id: T12.', required: true }

const PROMPTS: Readonly<Record<string, PromptOf>> = {
  plan_a_task: {
    title: 'Plan a task',
    description: 'Breaks a task or a goal into a plan that can be worked off.',
    arguments: [
      { ...task, required: false },
      { name: 'goal', description: 'What is to be reached, where there is no task yet.', required: false },
    ],
    needs: ['search', 'get_task', 'create_task', 'decompose_task', 'ask_question'],
    text: ({ task, goal }) =>
      [
        task
          ? `Plan the task ${task}. Read it with get_task first.`
          : `Plan this goal: ${goal ?? 'ask me what it is'}. Look with search whether a task for it exists; else make one with create_task.`,
        'Then add the plan with decompose_task: steps for what one worker does in one go, subtasks for what can be done apart. Each says when it is done. Keep what is already planned.',
        'What only a person can decide, ask with ask_question. Do not begin the work. Show the plan at the end.',
      ].join('\n'),
  },
  daily_review: {
    title: 'Daily review',
    description: 'What needs attention today, what waits, and what to do next.',
    arguments: [],
    needs: ['get_digest', 'list_my_tasks'],
    text: () =>
      [
        'Review the day. Read get_digest and list_my_tasks.',
        'Tell me in this order: what waits for a decision of mine, with its page; what was sent back or answered; what is overdue or due today; what is stalled or blocked, and why; what you would do next.',
        'Name tasks by id and title. Change nothing.',
      ].join('\n'),
  },
  hand_over: {
    title: 'Hand over a task',
    description: 'Leaves a task so that somebody else can go on at once.',
    arguments: [task],
    needs: ['get_task', 'set_step_status', 'attach_artifact', 'release_task'],
    text: ({ task }) =>
      [
        `Hand over the task ${task ?? '(ask me which)'}. Read it with get_task.`,
        'Bring its steps up to date with set_step_status, and attach_artifact what the next one needs.',
        'Then release_task with a note: what is done, what is not, what was tried and failed, what to do first. Do not complete it.',
      ].join('\n'),
  },
}

/** The prompts whose tools are all listed. */
export function promptsFor(tools: ReadonlySet<string>): ListPromptsResult {
  return {
    prompts: Object.entries(PROMPTS)
      .filter(([, prompt]) => prompt.needs.every((name) => tools.has(name)))
      .map(([name, prompt]): Prompt => {
        const { title, description } = prompt
        return { name, title, description, arguments: prompt.arguments.map((each) => ({ ...each })) }
      }),
  }
}

/** A prompt filled in. An unknown one, or one whose tools are not listed, is an error of the protocol. */
export function promptNamed(
  tools: ReadonlySet<string>,
  name: string,
  args: Record<string, string>,
): GetPromptResult {
  const prompt = Object.hasOwn(PROMPTS, name) ? PROMPTS[name]! : undefined
  if (!prompt?.needs.every((each) => tools.has(each))) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name.slice(0, 80)}`)
  }
  const missing = prompt.arguments.find((each) => each.required && !args[each.name]?.trim())
  if (missing) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${name} needs ${missing.name}.`)
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text: prompt.text(args) } }],
  }
}
