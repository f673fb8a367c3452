import { pathToFileURL } from 'node:url'
import { formatWithOptions } from 'node:util'

/*
 * A program: the protocol's conformance runner for several command lines, as nearly all of its work is loading the packages that it is
 * made of. Its arguments are the runner's file and the command lines as JSON; it prints what each of them printed, as JSON.
 */
const [, , runner = '', commands = '[]'] = process.argv
const parsed: string[][] = JSON.parse(commands)

const printed: string[] = []
for (const [index, command] of parsed.entries()) {
  const lines: string[] = []
  const log = (...values: unknown[]) => void lines.push(formatWithOptions({ colors: false }, ...values))
  Object.assign(console, { log, error: log, warn: log })
  process.argv = [process.execPath, runner, ...command]
  const ended = new Promise<void>((resolve) => {
    // The runner ends with an exit code after its scenario. Its list is printed while it loads.
    Object.assign(process, { exit: () => resolve() })
    if (command[0] === 'list') resolve()
  })
  // By another name each time, so that the runner itself runs again, with the packages that are loaded.
  await import(`${pathToFileURL(runner).href}?${index}`)
  await ended
  printed.push(lines.join('\n'))
}
process.stdout.write(JSON.stringify(printed))
