// Figures that a test measured: printed when STINT_FIGURES is set, since only a quiet machine measures well.

export function figure(name: string, value: number, unit: string): void {
  if (process.env['STINT_FIGURES']) process.stdout.write(`figure: ${name}: ${Math.round(value * 100) / 100} ${unit}\n`);
}
