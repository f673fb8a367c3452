import { type ReactNode, useState } from 'react'
import { cx } from '../lib/class-names.ts'

/** Which of these keys are chosen, at most so many, and the ways to choose. */
export const useSelection = (keys: readonly string[], most = Number.POSITIVE_INFINITY) => {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const chosen = keys.filter((key) => selected.has(key)).slice(0, most)
  const whole = keys.slice(0, most)
  return {
    chosen,
    toggle: (key: string) => {
      const next = new Set(selected)
      if (!next.delete(key)) next.add(key)
      setSelected(next)
    },
    isWhole: chosen.length > 0 && chosen.length === whole.length,
    toggleAll: () => setSelected(new Set(chosen.length === whole.length ? [] : whole)),
    clear: () => setSelected(new Set()),
    isEmpty: keys.length === 0,
  }
}

type BarProps = { selection: ReturnType<typeof useSelection>; words: string; apart?: boolean; children: ReactNode }

/** Above a list: chooses all of it or nothing, and says what is chosen. `children`: what can be done with that. `apart`: above several. */
export const SelectionBar = ({ selection, words, apart = false, children }: BarProps) => (
  <div className={cx('row row-between selection-bar', apart && 'card')}>
    <label className="check">
      <input type="checkbox" checked={selection.isWhole} disabled={selection.isEmpty} onChange={selection.toggleAll} />
      <span>{words}</span>
    </label>
    {selection.chosen.length > 0 && <div className="row row-tight">{children}</div>}
  </div>
)
