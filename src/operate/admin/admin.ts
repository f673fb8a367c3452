import { Refusal, StartupError } from '../../lib/errors.ts'
import { UsageError } from './arguments.ts'
import { type ConsoleCommand, readCommand, usageFor } from './commands.ts'
import { openConsole } from './console.ts'

// Runs the administrators' operations from a shell, for a person with access to the machine.
const run = async (): Promise<void> => {
  const command = readCommand(process.argv.slice(2))
  const result = await (command.needsConsole ? withConsole(command) : command.run())
  // A text, such as a new key, is printed unquoted, so that it can be copied into a setting.
  if (result !== undefined) console.log(typeof result === 'string' ? result : JSON.stringify(result, null, 2))
}

const withConsole = async (command: ConsoleCommand): Promise<unknown> => {
  const at = await openConsole(command.as)
  try {
    return await command.run(at)
  } finally {
    await at.close()
  }
}

await run().catch((error: unknown) => {
  if (error instanceof UsageError) {
    // The message comes last, where a terminal shows it.
    console.error([usageFor(process.argv.slice(2)), error.message].filter(Boolean).join('\n\n'))
    process.exitCode = 2
  } else if (error instanceof Refusal || error instanceof StartupError) {
    console.error(error.message)
    process.exitCode = 1
  } else {
    throw error
  }
})
