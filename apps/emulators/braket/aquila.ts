// The limits of QuEra's Aquila, as AWS publishes them. Decimals are strings, so that no digit is lost.

const performance = {
  lattice: {
    positionErrorAbs: '2.25E-7',
    sitePositionError: '1E-7',
    atomPositionError: '2E-7',
    fillingErrorTypical: '0.008',
    fillingErrorWorst: '0.05',
    vacancyErrorTypical: '0.001',
    vacancyErrorWorst: '0.005',
    atomLossProbabilityTypical: '0.005',
    atomLossProbabilityWorst: '0.01',
    atomCaptureProbabilityTypical: '0.001',
    atomCaptureProbabilityWorst: '0.002',
    atomDetectionErrorFalsePositiveTypical: '0.001',
    atomDetectionErrorFalsePositiveWorst: '0.005',
    atomDetectionErrorFalseNegativeTypical: '0.001',
    atomDetectionErrorFalseNegativeWorst: '0.005'
  },
  rydberg: {
    rydbergGlobal: {
      rabiFrequencyErrorRel: '0.03',
      rabiFrequencyGlobalErrorRel: '0.02',
      rabiFrequencyInhomogeneityRel: '0.02',
      groundDetectionError: '0.05',
      rydbergDetectionError: '0.1',
      groundPrepError: '0.01',
      rydbergPrepErrorBest: '0.05',
      rydbergPrepErrorWorst: '0.07',
      T1Single: '0.000075',
      T1Ensemble: '0.000075',
      T2StarSingle: '0.000005',
      T2StarEnsemble: '0.00000475',
      T2EchoSingle: '0.000008',
      T2EchoEnsemble: '0.000007',
      T2RabiSingle: '0.000008',
      T2RabiEnsemble: '0.000007',
      T2BlockadedRabiSingle: '0.000008',
      T2BlockadedRabiEnsemble: '0.000007',
      detuningError: '1000000.0',
      detuningInhomogeneity: '1000000.0',
      rabiAmplitudeRampCorrection: [
        { rampTime: '5E-8', rabiCorrection: '0.92' },
        { rampTime: '7.5E-8', rabiCorrection: '0.97' },
        { rampTime: '1E-7', rabiCorrection: '1' }
      ]
    },
    rydbergLocal: null
  }
}

/** With local detuning, which Aquila offers as an experimental capability. */
export const aquilaParadigm = {
  braketSchemaHeader: { name: 'braket.device_schema.quera.quera_ahs_paradigm_properties', version: '1' },
  qubitCount: 256,
  lattice: {
    area: { width: '0.000075', height: '0.000128' },
    geometry: {
      spacingRadialMin: '0.000004',
      spacingVerticalMin: '0.000004',
      positionResolution: '1E-9',
      numberSitesMax: 256
    }
  },
  rydberg: {
    c6Coefficient: '5.42E-24',
    rydbergGlobal: {
      rabiFrequencyRange: ['0.0', '15800000.0'],
      rabiFrequencyResolution: '400.0',
      rabiFrequencySlewRateMax: '400000000000000.0',
      detuningRange: ['-125000000.0', '125000000.0'],
      detuningResolution: '0.2',
      detuningSlewRateMax: '6000000000000000.0',
      phaseRange: ['-99.0', '99.0'],
      phaseResolution: '5E-7',
      timeResolution: '1E-9',
      timeDeltaMin: '5E-8',
      timeMin: '0.0',
      timeMax: '0.000004'
    },
    rydbergLocal: {
      detuningRange: ['0.0', '125000000.0'],
      detuningSlewRateMax: '1256600000000000.0',
      siteCoefficientRange: ['0.0', '1.0'],
      numberLocalDetuningSitesMax: '256',
      spacingRadialMin: '0.000005',
      timeResolution: '1E-9',
      timeDeltaMin: '5E-8'
    }
  },
  performance
} as const
