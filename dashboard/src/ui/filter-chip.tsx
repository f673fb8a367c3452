import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { cx } from '../lib/class-names.ts'
import { Icon } from './icon.tsx'

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
    if (!open) return undefined
    fields.current?.querySelector<HTMLElement>('input, select, button')?.focus()
    const onPointer = (event: PointerEvent) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false)
    }
    addEventListener('pointerdown', onPointer)
    return () => removeEventListener('pointerdown', onPointer)
  }, [open])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the Escape key of the fields inside
    <div
      className="filter-chip"
      ref={root}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return
        event.preventDefault()
        setOpen(false)
        button.current?.focus()
      }}
    >
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
