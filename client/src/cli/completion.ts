import { UsageError } from './errors.ts'
import { entryOf } from './terminal.ts'

type Described = { arguments: string; summary: string }

const optionsOf = ({ arguments: args, summary }: Described): string =>
  [...new Set([...`${args} ${summary} --url --help`.matchAll(/--[a-z][a-z-]*/g)].map(([option]) => option))].join(' ')

type Words = readonly (readonly [name: string, options: string])[]

const bash = (words: Words): string => `_payments() {
  local words
  case \${COMP_WORDS[1]} in
${words.map(([name, options]) => `    ${name}) words='${options}' ;;`).join('\n')}
    *) words='' ;;
  esac
  [ "$COMP_CWORD" = 1 ] && words='${words.map(([name]) => name).join(' ')}'
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _payments payments`

const shells: Readonly<Record<string, (words: Words) => string>> = {
  bash,
  zsh: (words) => `autoload -U +X bashcompinit && bashcompinit\n${bash(words)}`,
  fish: (words) =>
    words
      .flatMap(([name, options]) => [
        `complete -c payments -n __fish_use_subcommand -a ${name}`,
        ...options
          .split(' ')
          .map((option) => `complete -c payments -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`),
      ])
      .join('\n'),
}

/** Shell script that completes commands and their options. */
export const completionFor = (shell: string | undefined, commands: Readonly<Record<string, Described>>): string => {
  const write = entryOf(shells, shell ?? '')
  if (!write) throw new UsageError(`Name a shell (${Object.keys(shells).join(', ')}): source <(payments completion bash)`)
  return write(Object.entries(commands).map(([name, command]) => [name, optionsOf(command)] as const))
}
