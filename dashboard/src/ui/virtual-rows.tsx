import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'

const rowsInPart = 50
/** Distance from the viewport at which a part is rendered. */
const margin = '1000px 0px'

type Props<Row> = { rows: readonly Row[]; columns: number; children: (row: Row) => ReactNode }

/** Bodies of a long table. A part far from the viewport is an empty row of the same height. */
export const VirtualRows = <Row,>({ rows, ...part }: Props<Row>) => {
  const [rowHeight, setRowHeight] = useState(0)
  const starts = Array.from({ length: Math.ceil(rows.length / rowsInPart) }, (_, part) => part * rowsInPart)
  return starts.map((start) => (
    <Part
      key={start}
      rows={rows.slice(start, start + rowsInPart)}
      rowHeight={rowHeight}
      onMeasure={start === 0 ? setRowHeight : undefined}
      {...part}
    />
  ))
}

type PartProps<Row> = Props<Row> & {
  /** Average height of a row in the first part, used for parts that have not been rendered yet. */
  rowHeight: number
  /** Receives the measured row height. Only for the first part, which is rendered at first. */
  onMeasure: ((rowHeight: number) => void) | undefined
}

const Part = <Row,>({ rows, columns, rowHeight, onMeasure, children }: PartProps<Row>) => {
  const body = useRef<HTMLTableSectionElement>(null)
  const [isNear, setIsNear] = useState(onMeasure !== undefined)
  const height = useRef<number | null>(null)
  // Rows are taller in a narrow window, so every resize measures them again.
  useLayoutEffect(() => {
    const element = body.current
    if (!element || !isNear) return undefined
    const measure = () => {
      height.current = element.offsetHeight
      onMeasure?.(element.offsetHeight / rows.length)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [isNear, rows.length, onMeasure])
  useEffect(() => {
    const element = body.current
    if (!element) return undefined
    // The last entry is the current state: a resize may report several entries together.
    const observer = new IntersectionObserver((entries) => setIsNear(entries.at(-1)?.isIntersecting ?? true), {
      rootMargin: margin,
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return (
    <tbody ref={body}>
      {isNear ? (
        rows.map(children)
      ) : (
        <tr>
          <td colSpan={columns} style={{ height: `${height.current ?? rowHeight * rows.length}px` }} />
        </tr>
      )}
    </tbody>
  )
}
