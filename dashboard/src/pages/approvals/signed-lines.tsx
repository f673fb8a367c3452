import { readSignedText } from '../../lib/approval-message.ts'
import { Notice } from '../../ui/layout.tsx'

const isWarning = (line: string): boolean => /^Warning\b/.test(line)

/** "Label: value", or a line of a list; whatever it is, it stands there word for word. */
const Line = ({ line }: { line: string }) => {
  const [, label, value] = /^([^:]{1,60}: )(.+)$/.exec(line) ?? []
  const isItem = line.startsWith('- ')
  return (
    <p className={isItem ? 'signed-item' : undefined}>
      {label && value && !isItem ? (
        <>
          <span className="quiet">{label}</span>
          <span className={/\b[A-Z]+ NOT MATCH\b/.test(value) ? 'strong bad-text' : undefined}>{value}</span>
        </>
      ) : (
        line
      )}
    </p>
  )
}

/** Everything that is signed, word for word: the warnings first, then what is decided, then what binds it. Nothing of it is folded away. */
export const SignedLines = ({ message }: { message: string }) => {
  const { opening, lines, binding } = readSignedText(message)
  return (
    <section className="stack signed-text" aria-label="What you sign">
      {lines.filter(isWarning).map((line) => (
        <Notice key={line} tone="warn">
          <p>{line}</p>
        </Notice>
      ))}
      <div className="signed-lines">
        <p className="quiet">{opening}</p>
        {lines
          .filter((line) => !isWarning(line))
          .map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two lines of a list may be alike
            <Line key={`${index} ${line}`} line={line} />
          ))}
      </div>
      <div className="signed-binding">
        {binding.map((line) => (
          <p key={line}>{line}</p>
        ))}
      </div>
    </section>
  )
}
