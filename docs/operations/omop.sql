-- One row for each patient with an observation period, from OMOP's common data model 5.4, for PostgreSQL.
SELECT
    date_part('year', last_seen) - p.year_of_birth AS age,
    CASE p.gender_concept_id WHEN 8507 THEN 'm' WHEN 8532 THEN 'f' END AS sex,
    drugs.codes AS drugs,
    crp.value AS crp_mg_l,
    CASE WHEN d.person_id IS NULL THEN 'alive' ELSE 'dead' END AS class
FROM person AS p
JOIN (
    SELECT person_id, max(observation_period_end_date) AS last_seen
    FROM observation_period
    GROUP BY person_id
) AS o ON o.person_id = p.person_id
LEFT JOIN LATERAL (
    -- Ingredients of the last year; `none` is the agreement's word for a patient without any.
    SELECT coalesce(string_agg(DISTINCT c.concept_code, ';' ORDER BY c.concept_code), 'none') AS codes
    FROM drug_era AS e
    JOIN concept AS c ON c.concept_id = e.drug_concept_id
    WHERE e.person_id = p.person_id AND e.drug_era_end_date > o.last_seen - 365
) AS drugs ON true
LEFT JOIN LATERAL (
    SELECT m.value_as_number AS value
    FROM measurement AS m
    WHERE m.person_id = p.person_id AND m.measurement_concept_id = 3020460 -- C-reactive protein, mg/L
    ORDER BY m.measurement_date DESC
    LIMIT 1
) AS crp ON true
LEFT JOIN death AS d ON d.person_id = p.person_id
