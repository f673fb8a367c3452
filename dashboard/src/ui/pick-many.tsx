import { useState } from 'react'
import { t } from '../lib/language.ts'
import { railOptions } from '../lib/rails.ts'
import { Field, type Option } from './field.tsx'
import { Icon } from './icon.tsx'

export type ManyProps = {
  value: readonly string[]
  onChange: (value: string[]) => void
  hint?: string
  error?: string | undefined
}

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

/** Chips of the chosen values and a field that adds more. Works with only a keyboard, with the browser's own suggestions. */
export const PickMany = ({
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
                    aria-label={t('remove_what', { label: labelOf(value) })}
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
              // A click on a suggestion arrives as a change to its whole text.
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

export const PaymentTypesField = (field: ManyProps) => (
  <PickMany label={t('types.only')} placeholder={t('choose_or_type')} allowOther options={railOptions} {...field} />
)
