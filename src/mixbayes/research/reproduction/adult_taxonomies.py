"""Taxonomies of Adult's nominal columns: our own, after what the values say. No paper prints those that it used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ADULT_TAXONOMIES: Mapping[str, Any] = {
    "workclass": {
        "Any work": [
            {"Government": ["Federal-gov", "Local-gov", "State-gov"]},
            {"Self-employed": ["Self-emp-inc", "Self-emp-not-inc"]},
            "Private",
            {"Unpaid": ["Never-worked", "Without-pay"]},
        ]
    },
    "education": {
        "Any education": [
            {
                "Without a diploma": [
                    {"Elementary": ["Preschool", "1st-4th", "5th-6th"]},
                    {"Junior secondary": ["7th-8th", "9th"]},
                    {"Senior secondary": ["10th", "11th", "12th"]},
                ]
            },
            {"Secondary": ["HS-grad", "Some-college"]},
            {"Associate": ["Assoc-acdm", "Assoc-voc"]},
            {
                "University": [
                    "Bachelors",
                    {"Graduate": ["Masters", {"Professional or doctor": ["Prof-school", "Doctorate"]}]},
                ]
            },
        ]
    },
    "marital-status": {
        "Any marital status": [
            {"With a spouse": ["Married-civ-spouse", "Married-AF-spouse"]},
            {
                "Without a spouse": [
                    "Never-married",
                    {"No longer together": ["Divorced", "Separated", "Widowed", "Married-spouse-absent"]},
                ]
            },
        ]
    },
    "occupation": {
        "Any occupation": [
            {
                "White collar": [
                    {"Qualified": ["Exec-managerial", "Prof-specialty", "Tech-support"]},
                    {"Clerical and sales": ["Adm-clerical", "Sales"]},
                ]
            },
            {
                "Blue collar": [
                    {"Crafts": ["Craft-repair", "Machine-op-inspct"]},
                    {"Manual": ["Farming-fishing", "Handlers-cleaners", "Transport-moving"]},
                ]
            },
            {"Service": ["Other-service", "Priv-house-serv", "Protective-serv", "Armed-Forces"]},
        ]
    },
    "relationship": {
        "Any relationship": [
            {"Spouse": ["Husband", "Wife"]},
            {"No spouse": [{"Relative": ["Own-child", "Other-relative"]}, "Not-in-family", "Unmarried"]},
        ]
    },
    "race": {"Any race": ["White", "Black", {"Others": ["Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"]}]},
    "sex": {"Any sex": ["Female", "Male"]},
    "native-country": {
        "Any country": [
            {"North America": ["United-States", "Canada", "Outlying-US(Guam-USVI-etc)"]},
            {
                "Latin America": [
                    {
                        "Middle America": [
                            "Mexico",
                            "Puerto-Rico",
                            "El-Salvador",
                            "Cuba",
                            "Jamaica",
                            "Dominican-Republic",
                            "Guatemala",
                            "Haiti",
                            "Honduras",
                            "Nicaragua",
                            "Trinadad&Tobago",
                        ]
                    },
                    {"South America": ["Columbia", "Ecuador", "Peru"]},
                ]
            },
            {
                "Europe": [
                    {
                        "Western Europe": [
                            "England",
                            "France",
                            "Germany",
                            "Greece",
                            "Holand-Netherlands",
                            "Ireland",
                            "Italy",
                            "Portugal",
                            "Scotland",
                        ]
                    },
                    {"Eastern Europe": ["Hungary", "Poland", "Yugoslavia"]},
                ]
            },
            {
                "Asia": [
                    {"East Asia": ["China", "Hong", "Japan", "Taiwan"]},
                    {"South-East Asia": ["Cambodia", "Laos", "Philippines", "Thailand", "Vietnam"]},
                    {"South and West Asia": ["India", "Iran"]},
                ]
            },
            "South",
        ]
    },
}
