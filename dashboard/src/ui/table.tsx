import type { ReactNode } from 'react'
import { cx } from '../lib/class-names.ts'

/** What heads a column: of figures, which stand at the right, `{ figures }`. */
type Heading = string | { figures: string }

type TableProps = { headings: readonly Heading[]; label?: string; folded?: 'booking' | 'line'; children: ReactNode }

/** `folded`: on a narrow screen each row is a block, of a booking with its balance or of a line of a list. */
export const Table = ({ headings, label, folded, children }: TableProps) => (
  <div className="table-scroll">
    <table className={cx('table', folded && `table-folded table-folded-${folded}`)} aria-label={label}>
      <thead>
        <tr>
          {headings.map((heading) =>
            typeof heading === 'string' ? (
              <th scope="col" key={heading}>
                {heading}
              </th>
            ) : (
              <th scope="col" key={heading.figures} className="figure">
                {heading.figures}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)
