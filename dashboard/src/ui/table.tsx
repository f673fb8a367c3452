import type { ReactNode } from 'react'
import { cx } from '../lib/class-names.ts'

/** What heads a column: of figures, which stand at the right, `{ figures }`; for a screen reader alone, `{ hidden }`. */
type Heading = string | { figures: string } | { hidden: string }

type TableProps = {
  headings: readonly (Heading | false)[]
  label?: string
  /** On a narrow screen each row is a block, of a booking with its balance or of a line of a list. */
  folded?: 'booking' | 'line'
  className?: string
  /** The children are bodies of the table, not rows. */
  bodies?: boolean
  children: ReactNode
}

const Head = ({ heading }: { heading: Heading | false }) => {
  if (!heading) return null
  if (typeof heading === 'string') return <th scope="col">{heading}</th>
  return 'figures' in heading ? (
    <th scope="col" className="figure">
      {heading.figures}
    </th>
  ) : (
    <th scope="col">
      <span className="visually-hidden">{heading.hidden}</span>
    </th>
  )
}

export const Table = ({ headings, label, folded, className, bodies = false, children }: TableProps) => (
  <div className="table-scroll">
    <table className={cx('table', folded && `table-folded table-folded-${folded}`, className)} aria-label={label}>
      <thead>
        <tr>
          {headings.map((heading, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
            <Head key={place} heading={heading} />
          ))}
        </tr>
      </thead>
      {bodies ? children : <tbody>{children}</tbody>}
    </table>
  </div>
)
