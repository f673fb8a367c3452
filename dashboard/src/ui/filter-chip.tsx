import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { cx } from '../lib/class-names.ts'
import { Icon } from './icon.tsx'
import { useDismiss } from './use-dismiss.ts'

type Props = {
  label: string
  /** What it is set to, in words; null where it is not set. */
  value: string | null
  children: ReactNode
}

/** One filter of a row of filters: says what it is set to, and unfolds its fields. Escape and a click elsewhere fold it again. */
export const FilterChip = ({ label, value, children }: Props) => {
  const [open, setOpen] = useState(false)
  const id = useId()
  const root = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const fields = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (open) fields.current?.querySelector<HTMLElement>('input, select, button')?.focus()
  }, [open])
  useDismiss(open, setOpen, { root, trigger: button })
  return (
    <div className="filter-chip" ref={root}>
      <button
        ref={button}
        type="button"
        className={cx('chip chip-button', value !== null && 'chip-set')}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        {value === null ? label : `${label}: ${value}`}
        <Icon name="chevron" size={14} />
      </button>
      <div ref={fields} id={id} className="filter-fields" hidden={!open}>
        {open && children}
      </div>
    </div>
  )
}
