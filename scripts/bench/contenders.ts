import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Contender, installed, matches } from './contender.ts'
import { DONECTL, output, type StdioServer, stdioServer } from './process.ts'
import { fillTexts } from './store.ts'

const done: Contender = {
  name: 'Done',
  async start(dir, tasks) {
    await fillTexts(dir, tasks)
    const server = await begin(process.execPath, [DONECTL, 'mcp', '--data', dir])
    return {
      server,
      nameOf: (n) => `T${n + 1}`,
      create: (texts) => ({ tool: 'create_task', args: { ...texts } }),
      made: ({ structured }) => String(structured!.id),
      update: (id, description) => ({ tool: 'update_task', args: { id, description }, shows: description }),
      get: (id) => ({ tool: 'get_task', args: { id } }),
      list: () => ({ tool: 'list_tasks', args: {} }),
      all: () => ({ tool: 'list_tasks', args: { limit: 100 } }),
      next: ({ structured }) =>
        structured!.next_cursor === undefined
          ? undefined
          : { tool: 'list_tasks', args: { limit: 100, cursor: structured!.next_cursor } },
      count: ({ structured }) => (structured!.tasks as unknown[]).length,
    }
  },
}

const taskMaster: Contender = {
  name: 'task-master-ai 0.43.1',
  updates: 'sets the status',
  async start(dir, tasks) {
    const folder = await installed('task-master-ai', '0.43.1')
    const now = new Date().toISOString()
    put(join(dir, '.taskmaster', 'tasks', 'tasks.json'), {
      master: {
        tasks: tasks.map((texts, i) => ({
          id: String(i + 1),
          ...texts,
          status: 'pending',
          dependencies: [],
          priority: 'medium',
          details: '',
          testStrategy: '',
          subtasks: [],
          updatedAt: now,
        })),
        metadata: {
          version: '1.0.0',
          lastModified: now,
          taskCount: tasks.length,
          completedCount: 0,
          tags: ['master'],
        },
      },
    })
    const server = await begin(process.execPath, [join(folder, 'dist', 'mcp-server.js')], {
      cwd: dir,
      env: { TASK_MASTER_TOOLS: 'all' },
    })
    const args = { projectRoot: dir }
    return {
      server,
      nameOf: (n) => String(n + 1),
      create: (texts) => ({ tool: 'add_task', args: { ...args, ...texts } }),
      made: ({ text }) => /"taskId": (\d+)/.exec(text)![1]!,
      update(id, _text, turn) {
        const status = turn % 2 === 0 ? 'in-progress' : 'review'
        return {
          tool: 'set_task_status',
          args: { ...args, id, status },
          shows: `"status": "${status}"`,
        }
      },
      get: (id) => ({ tool: 'get_task', args: { ...args, id } }),
      list: () => ({ tool: 'get_tasks', args }),
      count: (answer) => matches(answer, /"title":/g),
    }
  },
}

const backlog: Contender = {
  name: 'backlog.md 1.52.0',
  async start(dir, tasks) {
    const folder = await installed('backlog.md', '1.52.0')
    const program = join(dirname(folder), '.bin', 'backlog')
    mkdirSync(dir, { recursive: true })
    await output(program, ['init', 'Bench', '--defaults', '--no-git', '--integration-mode', 'none'], {
      cwd: dir,
    })
    for (const [i, { title, description }] of tasks.entries()) {
      const slug = title.replaceAll(':', '').replaceAll(' ', '-')
      const path = join(dir, 'backlog', 'tasks', `task-${i + 1} - ${slug}.md`)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(
        path,
        `---\nid: TASK-${i + 1}\ntitle: '${title}'\nstatus: To Do\nassignee: []\ncreated_date: '2026-11-30 15:20'\nlabels: []\ndependencies: []\nordinal: ${(i + 1) * 1000}\n---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\n${description}\n<!-- SECTION:DESCRIPTION:END -->\n`,
      )
    }
    const server = await begin(program, ['mcp', 'start', '--cwd', dir], { cwd: dir })
    return {
      server,
      nameOf: (n) => `task-${n + 1}`,
      create: (texts) => ({ tool: 'task_create', args: { ...texts } }),
      made: ({ text }) => /Task (TASK-\d+) /.exec(text)![1]!,
      update: (id, description) => ({ tool: 'task_edit', args: { id, description }, shows: description }),
      get: (id) => ({ tool: 'task_view', args: { id } }),
      list: () => ({ tool: 'task_list', args: {} }),
      count: (answer) => matches(answer, /TASK-\d+ - /g),
    }
  },
}

const shrimp: Contender = {
  name: 'mcp-shrimp-task-manager 1.0.21',
  async start(dir, tasks) {
    const folder = await installed('mcp-shrimp-task-manager', '1.0.21')
    const path = join(dir, 'tasks.json')
    const now = new Date().toISOString()
    const ids = tasks.map(() => randomUUID())
    put(path, {
      tasks: tasks.map(({ title, description }, i) => ({
        id: ids[i],
        name: title,
        description,
        notes: '',
        status: 'pending',
        dependencies: [],
        createdAt: now,
        updatedAt: now,
        relatedFiles: [],
        implementationGuide: 'Do it step by step.',
        verificationCriteria: 'It is there.',
        analysisResult: 'none',
      })),
    })
    const server = await begin(process.execPath, [join(folder, 'dist', 'index.js')], {
      cwd: dir,
      env: { DATA_DIR: dir, ENABLE_GUI: 'false', TEMPLATES_USE: 'en' },
    })
    return {
      server,
      nameOf: (n) => ids[n]!,
      create: ({ title, description }) => ({
        tool: 'split_tasks',
        args: {
          updateMode: 'append',
          globalAnalysisResult: 'none',
          tasksRaw: JSON.stringify([
            {
              name: title,
              description,
              implementationGuide: 'Do it step by step.',
              notes: '',
              dependencies: [],
              relatedFiles: [],
              verificationCriteria: 'It is there.',
            },
          ]),
        },
      }),
      // Its answer lists the new tasks among those that were there, so the store says which one it is.
      made(_answer, { title }) {
        const stored = JSON.parse(readFileSync(path, 'utf8')) as { tasks: { id: string; name: string }[] }
        return stored.tasks.find(({ name }) => name === title)!.id
      },
      update: (taskId, description) => ({
        tool: 'update_task',
        args: { taskId, description },
        shows: description,
      }),
      get: (taskId) => ({ tool: 'get_task_detail', args: { taskId } }),
      list: () => ({ tool: 'list_tasks', args: { status: 'all' } }),
      count: (answer) => matches(answer, /\*\*ID:\*\*/g),
    }
  },
}

const memory: Contender = {
  name: 'server-memory 2026.8.31',
  updates: 'adds an observation',
  async start(dir, tasks) {
    const folder = await installed('@modelcontextprotocol/server-memory', '2026.8.31')
    mkdirSync(dir, { recursive: true })
    const path = join(dir, 'memory.jsonl')
    const entity = (title: string, description: string) => ({
      name: title,
      entityType: 'task',
      observations: [description],
    })
    writeFileSync(
      path,
      tasks
        .map(({ title, description }) => JSON.stringify({ type: 'entity', ...entity(title, description) }))
        .join('\n'),
    )
    const server = await begin(process.execPath, [join(folder, 'dist', 'index.js')], {
      env: { MEMORY_FILE_PATH: path },
    })
    return {
      server,
      nameOf: (n) => tasks[n]!.title,
      create: ({ title, description }) => ({
        tool: 'create_entities',
        args: { entities: [entity(title, description)] },
      }),
      made: (_answer, { title }) => title,
      update: (entityName, text) => ({
        tool: 'add_observations',
        args: { observations: [{ entityName, contents: [text] }] },
        shows: text,
      }),
      get: (name) => ({ tool: 'open_nodes', args: { names: [name] } }),
      list: () => ({ tool: 'read_graph', args: {} }),
      count: (answer) => matches(answer, /"entityType":/g),
    }
  },
}

/** Done first, then the peers. */
export const CONTENDERS: readonly Contender[] = [done, taskMaster, backlog, shrimp, memory]

function put(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify(value, null, 2))
}

/** The way in which hosts of every age open a connection, so that all are served alike. */
async function begin(...how: Parameters<typeof stdioServer>): Promise<StdioServer> {
  const server = stdioServer(...how)
  const { error } = await server.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  })
  if (error) throw new Error(error.message)
  return server
}
