import type { ReactNode } from 'react'
import type { useFilters } from '../lib/filters.ts'
import { pageZone, zoneWords } from '../lib/zone.ts'
import { Button } from './button.tsx'
import { TextField } from './field.tsx'

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
