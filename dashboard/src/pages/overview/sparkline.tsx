const width = 240
const height = 56
const inset = 4

/** The balance after each of the last movements, as steps: between two movements it did not change. */
export const Sparkline = ({ values }: { values: readonly string[] }) => {
  const numbers = values.map(Number)
  const top = Math.max(...numbers, 1)
  const x = (index: number) => inset + (index * (width - 2 * inset)) / Math.max(1, numbers.length - 1)
  const y = (value: number) => height - inset - (value * (height - 2 * inset)) / top
  const line = numbers.map((value, index) => (index === 0 ? `M${x(0)} ${y(value)}` : `H${x(index)}V${y(value)}`)).join('')
  return (
    <svg
      className="spark"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label="The balance after each of the last movements"
    >
      <path d={`${line}V${height}H${x(0)}Z`} fill="var(--accent-soft)" />
      <path d={line} fill="none" stroke="var(--accent-text)" strokeWidth="1.5" vectorEffect="non-scaling-stroke" />
    </svg>
  )
}
