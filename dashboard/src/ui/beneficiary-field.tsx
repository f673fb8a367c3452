import { useState } from 'react'
import type { Beneficiaries } from '../api/names.ts'
import { t } from '../lib/language.ts'
import { railOptions } from '../lib/rails.ts'
import { statusText } from '../lib/words.ts'
import { Icon } from './button.tsx'
import { Field, type Option, SelectField, TextField } from './field.tsx'

type Props = {
  beneficiaries: Beneficiaries
  value: string
  onChange: (id: string) => void
  emptyLabel: string
  label?: string
  hint?: string | undefined
  error?: string | undefined
  autoFocus?: boolean
}

/** Chooses one beneficiary: from a list if it has all of them, else by typing part of the name. */
export const BeneficiaryField = ({ beneficiaries, value, onChange, emptyLabel, label = t('beneficiary'), ...field }: Props) => {
  const { all, complete, labelOf } = beneficiaries
  if (!complete) return <SearchField {...{ beneficiaries, value, onChange, emptyLabel, label, ...field }} />
  return (
    <SelectField
      label={label}
      value={value}
      onChange={onChange}
      emptyLabel={emptyLabel}
      options={[
        ...all
          .filter(({ id, status }) => status !== 'archived' || id === value)
          .map(({ id, status }) => ({
            value: id,
            label: status === 'active' ? labelOf(id) : `${labelOf(id)} (${statusText(status).toLowerCase()})`,
          })),
        ...(value !== '' && !all.some(({ id }) => id === value) ? [{ value, label: labelOf(value) }] : []),
      ]}
      {...field}
    />
  )
}

/** The service searches during typing. The browser shows the suggestions, so the keyboard works as usual. */
const SearchField = ({ beneficiaries, value, onChange, emptyLabel, hint, ...field }: Props & { label: string }) => {
  const { all, search, labelOf, isPending } = beneficiaries
  const offered = all.filter(({ status }) => status === 'active').map(({ id }) => ({ id, label: labelOf(id) }))
  const [typed, setTyped] = useState<string | null>(null)
  const shown = typed ?? (value === '' || isPending ? '' : labelOf(value))
  const type = (text: string) => {
    setTyped(text)
    const match = offered.find(({ label }) => label === text)
    // A chosen label is not a search text.
    search(match ? '' : text)
    onChange(match?.id ?? '')
  }
  return (
    <TextField
      hint={hint ?? t('payee.type')}
      {...field}
      value={shown}
      placeholder={emptyLabel}
      suggestions={[...new Set(offered.map(({ label }) => label))]}
      onChange={type}
      onBlur={() => {
        // Text without a matching beneficiary chooses nothing.
        if (value === '') setTyped(null)
      }}
    />
  )
}

type ManyProps = { value: readonly string[]; onChange: (value: string[]) => void; hint?: string; error?: string | undefined }

/** Hides archived beneficiaries, which cannot be paid. */
export const BeneficiariesField = ({ beneficiaries, ...field }: ManyProps & { beneficiaries: Beneficiaries }) => (
  <PickMany
    label={t('payee.only')}
    placeholder={t('payee.choose')}
    onType={beneficiaries.search}
    nameOf={beneficiaries.labelOf}
    options={beneficiaries.all
      .filter(({ status }) => status !== 'archived')
      .map(({ id }) => ({ value: id, label: beneficiaries.labelOf(id) }))}
    {...field}
  />
)

export const PaymentTypesField = (field: ManyProps) => (
  <PickMany label={t('types.only')} placeholder={t('choose_or_type')} allowOther options={railOptions} {...field} />
)

type PickManyProps = ManyProps & {
  label: string
  options: readonly Option[]
  /** Whether values outside the options may be typed. */
  allowOther?: boolean
  placeholder: string
  /** Called with typed text, if there are more options than shown. */
  onType?: (text: string) => void
  /** Label of a value outside the options. */
  nameOf?: (value: string) => string
}

/** Chips of the chosen values and a field that adds more. Works by keyboard alone, with the browser's own suggestions. */
const PickMany = ({
  value: chosen,
  onChange,
  options,
  allowOther = false,
  placeholder,
  onType,
  nameOf,
  ...field
}: PickManyProps) => {
  const [entered, setEntered] = useState('')
  const labelOf = (value: string) => options.find((option) => option.value === value)?.label ?? nameOf?.(value) ?? value
  const offered = options.filter(({ value }) => !chosen.includes(value))
  const add = (typed: string) => {
    const text = typed.trim().toLowerCase()
    const match = offered.find((option) => option.label.toLowerCase() === text || option.value.toLowerCase() === text)
    const value = match?.value ?? (allowOther ? typed.trim() : '')
    if (value === '' || chosen.includes(value)) return
    onChange([...chosen, value])
    setEntered('')
    onType?.('')
  }
  return (
    <Field {...field} optional>
      {(wiring) => (
        <>
          {chosen.length > 0 && (
            <ul className="row row-tight">
              {chosen.map((value) => (
                <li key={value}>
                  <button
                    type="button"
                    className="chip chip-button"
                    onClick={() => onChange(chosen.filter((other) => other !== value))}
                    aria-label={t('remove_what', { labelOf: labelOf(value) })}
                  >
                    {labelOf(value)}
                    <Icon name="cross" size={12} />
                  </button>
                </li>
              ))}
            </ul>
          )}
          <input
            {...wiring}
            className="input"
            list={`${wiring.id}-options`}
            value={entered}
            placeholder={placeholder}
            autoComplete="off"
            onChange={(event) => {
              setEntered(event.target.value)
              onType?.(event.target.value)
              // A click on a suggestion arrives as its whole text at once.
              if (offered.some((option) => option.label === event.target.value)) add(event.target.value)
            }}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              event.preventDefault()
              add(entered)
            }}
            onBlur={() => add(entered)}
          />
          <datalist id={`${wiring.id}-options`}>
            {offered.map(({ value, label: name }) => (
              <option key={value} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}
