import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { cx } from '../lib/class-names.ts'
import type { useFilters } from '../lib/drafts.ts'
import { pageZone, zoneWords } from '../lib/time.ts'
import { Button, Icon } from './button.tsx'
import { TextField } from './field.tsx'
import { useDismiss } from './use-dismiss.ts'

type Filters = Pick<ReturnType<typeof useFilters>, 'any' | 'clear' | 'field'>

/** The first and the last day of a list, as the address keeps them. Limits count the same days. */
export const DayFilters = ({ filters: { field } }: { filters: Pick<Filters, 'field'> }) => {
  const zone = pageZone()
  return (
    <>
      <TextField label="From" type="date" {...field('from')} />
      <TextField label="To" type="date" {...field('to')} />
      {zone && <p className="filters-note">Days and times in {zoneWords(zone)}</p>}
    </>
  )
}

export const ClearFilters = ({ filters }: { filters: Pick<Filters, 'any' | 'clear'> }) =>
  filters.any && (
    <Button variant="quiet" onClick={filters.clear}>
      Clear filters
    </Button>
  )

/** A row of filters: those of the page, then the days, then the way to clear them all. */
export const FilterBar = ({ filters, children }: { filters: Filters; children: ReactNode }) => (
  <search className="filters">
    {children}
    <DayFilters filters={filters} />
    <ClearFilters filters={filters} />
  </search>
)

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
