import { type ReactNode, useEffect, useRef, useState } from 'react'

const rowsInPart = 50
/** How far outside of the window a part is drawn already. */
const margin = '1000px 0px'

type Props<Row> = { rows: readonly Row[]; columns: number; rowHeight: number; children: (row: Row) => ReactNode }

/** The bodies of a table of many rows: a part that is far from the window is an empty row of its height. */
export const VirtualRows = <Row,>({ rows, ...part }: Props<Row>) =>
  Array.from({ length: Math.ceil(rows.length / rowsInPart) }, (_, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
    <Part key={place} rows={rows.slice(place * rowsInPart, (place + 1) * rowsInPart)} begins={place === 0} {...part} />
  ))

const Part = <Row,>({ rows, columns, rowHeight, begins, children }: Props<Row> & { begins: boolean }) => {
  const body = useRef<HTMLTableSectionElement>(null)
  const [isNear, setIsNear] = useState(begins)
  const height = useRef(rows.length * rowHeight)
  useEffect(() => {
    const element = body.current
    if (!element) return undefined
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry) return
        if (!entry.isIntersecting) height.current = element.offsetHeight
        setIsNear(entry.isIntersecting)
      },
      { rootMargin: margin },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return (
    <tbody ref={body}>
      {isNear ? (
        rows.map(children)
      ) : (
        <tr>
          <td colSpan={columns} style={{ height: `${height.current}px` }} />
        </tr>
      )}
    </tbody>
  )
}
